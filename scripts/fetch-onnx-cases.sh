#!/usr/bin/env bash
# Puts the test cases that the ONNX project ships in its Python package into .build-onnx-cases: a folder for each with
# model.onnx and test_data_set_0 (inputs and expected outputs), and index.tsv with kind, name, relative and absolute
# tolerance. Below later/ lie those of a newer package for operator sets that the first one does not know. Does nothing when
# they are there. Needs python3 with venv, and PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cases=.build-onnx-cases
# The versions decide which cases there are: newer packages write the same cases in newer operator versions.
packages=('onnx==1.16.2' 'numpy<2')
later=('onnx==1.23.2')
[[ "$(cat "$cases/packages" 2>/dev/null)" == "${packages[*]} ${later[*]}" ]] && exit 0

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

python3 -m venv "$work/later"
"$work/later/bin/pip" install --quiet --disable-pip-version-check "${later[@]}"
"$work/later/bin/python" - "$work/cases/later" <<'PYTHON'
import os, sys, warnings

import numpy, onnx
from onnx.backend.test.loader import load_model_tests

# Cases of what is not finite, and of casts beyond a range, are meant.
warnings.simplefilter("ignore")
target = sys.argv[1]
lines = []
for case in sorted(load_model_tests(kind="node"), key=lambda case: case.name):
    opset = next((one.version for one in case.model.opset_import if one.domain in ("", "ai.onnx")), 0)
    if opset <= 21:
        continue
    folder = os.path.join(target, "node", case.name)
    os.makedirs(os.path.join(folder, "test_data_set_0"))
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(case.model.SerializeToString())
    for role, values in zip(("input", "output"), case.data_sets[0]):
        for number, value in enumerate(values):
            # Sequences and optionals are refused with their models.
            if not isinstance(value, (numpy.ndarray, numpy.generic)):
                continue
            with open(os.path.join(folder, "test_data_set_0", f"{role}_{number}.pb"), "wb") as file:
                file.write(onnx.numpy_helper.from_array(numpy.asarray(value)).SerializeToString())
    lines.append(f"node\t{case.name}\t{case.rtol}\t{case.atol}\n")
with open(os.path.join(target, "index.tsv"), "w") as index:
    index.writelines(lines)
print(len(lines), "later cases", file=sys.stderr)
PYTHON
echo "${packages[*]} ${later[*]}" >"$work/cases/packages"
mv "$work/cases" "$cases"
