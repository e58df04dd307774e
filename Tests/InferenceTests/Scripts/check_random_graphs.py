#!/usr/bin/env python3
"""Compares what bgrun computed for random graphs with ONNX Runtime.

  BGRUN_GRAPHS=2000 BGRUN_GRAPHS_FOLDER=/tmp/graphs scripts/test.sh --filter RandomGraphTests
  Tests/InferenceTests/Scripts/check_random_graphs.py /tmp/graphs

Needs onnx, onnxruntime and numpy from PyPI. A line for each difference; exit status 1 where there is one.

ONNX Runtime drops NaN in ReduceMax, ReduceMin and pooling by the largest, where IEEE 754, NumPy and the standard's reference
implementation keep it, and gives the lowest float for the largest of minus infinities: graphs with such an operator and with
inputs that are not finite are counted apart.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

ort.set_default_logger_severity(4)


def tensors(folder, kind, count):
    for place in range(count):
        message = onnx.TensorProto()
        with open(f"{folder}/test_data_set_0/{kind}_{place}.pb", "rb") as file:
            message.ParseFromString(file.read())
        yield message.name, numpy_helper.to_array(message)


def differs(own, wanted):
    if own.shape != wanted.shape or own.dtype != wanted.dtype:
        return f"{own.dtype}{own.shape}, not {wanted.dtype}{wanted.shape}"
    finite = np.isfinite(own) & np.isfinite(wanted)
    if not np.array_equal(own[~finite], wanted[~finite], equal_nan=True):
        return "infinities or NaN elsewhere"
    scale = max(1, np.abs(wanted[finite]).max(initial=0))
    error = np.abs(own[finite].astype(float) - wanted[finite]).max(initial=0)
    return f"error {error / scale:.2g} of {scale:.3g}" if error > 5e-4 * scale else None


CHOOSERS = {"ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool"}


def main():
    root = sys.argv[1]
    compared, refused, wrong, apart = 0, 0, 0, 0
    for name in sorted(os.listdir(root), key=int):
        folder = f"{root}/{name}"
        model = onnx.load(f"{folder}/model.onnx")
        outputs = [output.name for output in model.graph.output]
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            inputs = dict(tensors(folder, "input", len(model.graph.input)))
            if any(node.op_type in CHOOSERS for node in model.graph.node) and not all(
                np.isfinite(value).all() for value in inputs.values()
            ):
                apart += 1
                continue
            wanted = session.run(outputs, inputs)
        except Exception as error:
            refused += 1
            print(f"{name}: ONNX Runtime refuses: {str(error).splitlines()[0][:160]}")
            continue
        compared += 1
        for (output, own), value in zip(tensors(folder, "output", len(outputs)), wanted):
            difference = differs(own, np.asarray(value))
            if difference:
                wrong += 1
                print(f"{name}: {output}: {difference}")
    print(
        f"{compared} graphs compared, {wrong} differences, {refused} that ONNX Runtime refuses, "
        f"{apart} in which it drops NaN"
    )
    sys.exit(1 if wrong or compared == 0 else 0)


main()
