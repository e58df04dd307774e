"""Quantises networks of `make_models.py` to 8 bits with ONNX Runtime's static quantisation, in the QDQ format.

    python quantise_models.py FOLDER NAME ...

Writes FOLDER/NAME-int8.onnx: activations uint8 with zero points, weights int8 by channel, ranges from inputs of a seed. With `--signed`
activations are int8 (NAME-int8-signed.onnx). Needs onnx, numpy and onnxruntime.
"""

import os
import sys

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class SeededInputs(CalibrationDataReader):
    """Uniform in ±1, the range that `bgrun-bench inference` uses."""

    def __init__(self, path, count=4):
        random = np.random.default_rng(1)
        ports = onnx.load(path, load_external_data=False).graph.input
        self.batches = iter([
            {port.name: random.uniform(-1, 1, [d.dim_value or 1 for d in port.type.tensor_type.shape.dim]).astype(np.float32)
             for port in ports}
            for _ in range(count)])

    def get_next(self):
        return next(self.batches, None)


def quantise(folder, name, signed):
    source = os.path.join(folder, name + ".onnx")
    target = os.path.join(folder, name + ("-int8-signed" if signed else "-int8") + ".onnx")
    quantize_static(
        source, target + ".part", SeededInputs(source), quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QInt8 if signed else QuantType.QUInt8, weight_type=QuantType.QInt8)
    os.replace(target + ".part", target)
    print(target)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--signed"]
    for name in arguments[1:]:
        quantise(arguments[0], name, "--signed" in sys.argv)
