#!/usr/bin/env bash
# Installs the Debian packages that bgrun builds and tests with; does nothing when they are there.
# Usage: scripts/install-dependencies.sh [--tests]
set -euo pipefail

build=(libjpeg62-turbo-dev libspng-dev libwebp-dev libtiff-dev liblcms2-dev libxxhash-dev libsqlite3-dev
    opencl-headers libdnnl-dev libzip-dev libfreetype-dev libfontconfig-dev libavif-dev libheif-dev libde265-dev libjxl-dev
    libraw-dev libgif-dev libopenjp2-7-dev)
# An OpenCL runtime for CPUs proves the OpenCL lane where there is no GPU; exiftool reads back the metadata; dbusmock
# stands for logind, NetworkManager and the power profile service on a bus of the test's own; strace lets system calls
# fail; venv fetches the test cases of ONNX; the font is for texts on pictures; the rest writes pictures of formats that
# bgrun only reads, or in ways that it does not.
tests=(ocl-icd-libopencl1 ocl-icd-opencl-dev pocl-opencl-icd libimage-exiftool-perl dbus python3-dbusmock strace
    python3-venv fonts-dejavu-core libavif-bin libheif-examples libjxl-tools libopenjp2-tools imagemagick webp)

wanted=("${build[@]}")
if [[ "${1:-}" == "--tests" ]]; then wanted+=("${tests[@]}"); fi

missing=()
for package in "${wanted[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then as_root=(sudo); fi
echo "Installing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
