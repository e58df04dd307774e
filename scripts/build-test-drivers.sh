#!/bin/sh
# Compiles the misbehaving OpenCL drivers and the test-GPU layer of Tests/Drivers into OUTDIR.
#
#   scripts/build-test-drivers.sh OUTDIR
#
# OUTDIR/libNAME.so       one library for each fault
# OUTDIR/NAME/NAME.icd    a folder for OCL_ICD_VENDORS with just that driver
# OUTDIR/libgpu-layer.so  OPENCL_LAYERS=OUTDIR/libgpu-layer.so makes CPU devices answer "GPU"
set -eu

[ $# -eq 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 64; }
sources=$(cd "$(dirname "$0")/../Tests/Drivers" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

pocl_icd=/etc/OpenCL/vendors/pocl.icd
[ -r "$pocl_icd" ] || { echo "$0: $pocl_icd is missing: install pocl-opencl-icd" >&2; exit 69; }
pocl=$(head -n 1 "$pocl_icd")

# The Swift toolchain brings a C compiler; it need not be on the PATH itself.
beside_swift=$(dirname "$(readlink -f "$(command -v swift)")")/clang
compiler=${CC:-$(command -v "$beside_swift" || command -v clang || command -v cc)}

compile() { # source, name, further flags
    source=$1 name=$2
    shift 2
    # Built under another name and moved: a test that runs meanwhile never sees half a library.
    "$compiler" -std=c11 -O1 -Wall -Wextra -Werror -fPIC -shared -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=300 \
        "$@" -o "$out/lib$name.so.$$" "$sources/$source" -ldl
    mv -f "$out/lib$name.so.$$" "$out/lib$name.so"
}

driver() { # source, name, macro
    compile "$1" "$2" "-D$3" "-DPOCL_LIBRARY=\"$pocl\""
    mkdir -p "$out/$2"
    echo "$out/lib$2.so" > "$out/$2/$2.icd"
}

driver broken_driver.c crashes-at-load DRIVER_CRASHES_AT_LOAD
driver broken_driver.c crashes-in-platforms DRIVER_CRASHES_IN_PLATFORMS
driver broken_driver.c crashes-in-devices DRIVER_CRASHES_IN_DEVICES
driver broken_driver.c hangs-in-platforms DRIVER_HANGS_IN_PLATFORMS
driver broken_driver.c hangs-in-devices DRIVER_HANGS_IN_DEVICES
driver broken_driver.c exits-in-platforms DRIVER_EXITS_IN_PLATFORMS
driver broken_driver.c no-devices DRIVER_HAS_NO_DEVICES
driver faulty_device.c computes-wrongly DEVICE_COMPUTES_WRONGLY
driver faulty_device.c refuses-build DEVICE_REFUSES_BUILD
driver faulty_device.c crashes-in-build DEVICE_CRASHES_IN_BUILD
driver faulty_device.c hangs-in-run DEVICE_HANGS_IN_RUN
compile gpu_layer.c gpu-layer
