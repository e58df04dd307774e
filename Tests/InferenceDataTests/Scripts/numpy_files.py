"""Makes Fixtures/NumPy with NumPy (2.x): python3 numpy_files.py. Values count up from 0 in row-major order unless said."""
import os
import numpy as np

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures", "NumPy")
os.makedirs(folder, exist_ok=True)


def path(name):
    return os.path.join(folder, name)


def counting(shape, dtype):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


for name in ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    np.save(path(f"{name}.npy"), counting((2, 3), name))
np.save(path("bool.npy"), np.array([[True, False, True], [False, False, True]]))
np.save(path("scalar.npy"), np.float32(2.5))
np.save(path("list.npy"), counting((5,), "float32"))
np.save(path("empty.npy"), np.zeros((0, 3), "float32"))
np.save(path("big-endian.npy"), counting((2, 3), ">f4"))
np.save(path("big-endian-integers.npy"), counting((2, 3), ">i8"))
np.save(path("fortran.npy"), np.asfortranarray(counting((2, 3, 4), "float32")))
for version in [(2, 0), (3, 0)]:
    with open(path(f"version{version[0]}.npy"), "wb") as file:
        np.lib.format.write_array(file, counting((2, 3), "float32"), version=version)
np.save(path("complex.npy"), np.zeros((2, 3), "complex64"))
np.save(path("structure.npy"), np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]))
np.savez(path("stored.npz"), first=counting((2, 3), "float32"), second=counting((4,), "int64"))
np.savez_compressed(path("compressed.npz"), first=counting((2, 3), "float32"), zeros=np.zeros(1 << 20, "float32"))
