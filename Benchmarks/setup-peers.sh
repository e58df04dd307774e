#!/bin/sh
# Installs the programs that bgrun is compared with: Debian's packages, and Python environments in .build-peers,
# and the networks of the inference benchmark in .build-models.
# Run it from the root of the package. What cannot be installed is listed as not measured in the tables.
set -eu

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

as_root apt-get update -q
as_root apt-get install -q -y --no-install-recommends \
    libvips-tools imagemagick graphicsmagick darktable python3-venv python3-dev gcc libjpeg62-turbo-dev zlib1g-dev

peers=.build-peers
mkdir -p "$peers"
[ -x "$peers/venv/bin/python3" ] || python3 -m venv "$peers/venv"
"$peers/venv/bin/pip" install -q \
    pyvips==3.2.0 pyvips-binary==8.18.7 pillow==13.0.0 opencv-contrib-python-headless==5.0.0.93 numpy==2.4.6

# Pillow-SIMD is built from source and takes Pillow's place, so it lives in an environment of its own.
[ -x "$peers/simd/bin/python3" ] || python3 -m venv "$peers/simd"
"$peers/simd/bin/pip" install -q 'setuptools<70' wheel
CC="cc -mavx2" "$peers/simd/bin/pip" install -q --no-build-isolation pillow-simd==9.5.0.post2 ||
    echo "Pillow-SIMD does not build here; plain Pillow takes its place." >&2

# Other engines of inference, and what makes the networks.
[ -x "$peers/inference/bin/python3" ] || python3 -m venv "$peers/inference"
"$peers/inference/bin/pip" install -q \
    onnx==1.16.2 'numpy<2' onnxruntime==1.31.1 ml_dtypes==0.5.4 openvino==2026.4.1 ncnn==1.0.20261020
# pnnx writes models as ncnn reads them; its program does without PyTorch, which its package asks for.
"$peers/inference/bin/pip" install -q --no-deps pnnx==20261020
"$peers/inference/bin/python3" Benchmarks/models/make_models.py .build-models
