#!/usr/bin/env bash
# Puts the test cases that the ONNX project ships in its Python package into .build-onnx-cases: a folder for each with
# model.onnx and test_data_set_0 (inputs and expected outputs), and index.tsv with kind, name, relative and absolute
# tolerance. Does nothing when they are there. Needs python3 with venv, and PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cases=.build-onnx-cases
# The versions decide which cases there are: newer packages write the same cases in newer operator versions.
packages=('onnx==1.16.2' 'numpy<2')
[[ "$(cat "$cases/packages" 2>/dev/null)" == "${packages[*]}" ]] && exit 0

echo "Fetching the test cases of ONNX" >&2
rm -rf "$cases"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
"$work/venv/bin/python" - "$work/cases" <<'PYTHON'
import os, shutil, sys

from onnx.backend.test.loader import DATA_DIR, load_model_tests

target = sys.argv[1]
lines = []
for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
    for case in sorted(load_model_tests(kind=kind), key=lambda case: case.name):
        shutil.copytree(case.model_dir, os.path.join(target, kind, case.name))
        lines.append(f"{kind}\t{case.name}\t{case.rtol}\t{case.atol}\n")
# Whole networks with weights that cost nothing; their input is made by the test.
shutil.copytree(os.path.join(DATA_DIR, "light"), os.path.join(target, "light"))
with open(os.path.join(target, "index.tsv"), "w") as index:
    index.writelines(lines)
print(len(lines), "cases", file=sys.stderr)
PYTHON
echo "${packages[*]}" >"$work/cases/packages"
mv "$work/cases" "$cases"
