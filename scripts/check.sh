#!/usr/bin/env bash
# The checks beside the tests: format, import arrows, kernel syntax.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "format"
swift format lint --strict --recursive Package.swift Sources Tests Benchmarks

echo "arrows: every import is a declared dependency"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift build -c release --explicit-target-dependency-import-check error >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
if grep -E 'error:.*(imports another target|without declaring)' "$log" >&2; then exit 1; fi

echo "locks: those that the thread sanitizer sees"
if grep -rnE '\bMutex[<(]' --include='*.swift' Sources Tests Benchmarks >&2; then
    echo "use Lock from Sources/Locking" >&2
    exit 1
fi

echo "kernels: OpenCL C 1.2"
clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
# Each file comes after those it builds on, as in the program that devices compile; what only processors run comes last.
check_kernels() {
    local folder=$1 options=$2
    shift 2
    for source in "$@"; do cat "Kernels/$folder/$source.cl"; done \
        | "$clang" -x cl -cl-std=CL1.2 $options -fsyntax-only -Wall -Wextra -Werror -
    [[ $(ls Kernels/"$folder"/*.cl | wc -l) -eq $# ]] || {
        echo "a kernel file is not checked: add it to scripts/check.sh" >&2
        exit 1
    }
}
for form in "" -DPIXELS_FORM; do
    check_kernels Image "$form" arithmetic resize sharpen resize_float chain points denoise local_contrast deconvolve grain rotate turn
done
for width in 1 4 8 16; do
    check_kernels Inference "-DWIDTH=$width" values elementwise product convolution window rows resample attention winograd winograd_blocks
done
echo "checks passed"
