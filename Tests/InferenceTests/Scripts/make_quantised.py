"""Writes the fixtures of QuantisedModelTests: small networks, quantised and run by ONNX Runtime.

    python make_quantised.py FOLDER

A network of the blocks of MobileNetV2 and ResNet with weights from a seed is quantised with ONNX Runtime's static quantisation in the
QDQ format; FOLDER gets NAME.onnx, and its input and ONNX Runtime's output as tensors of the standard. Needs onnx 1.16.2, numpy below 2
and onnxruntime 1.31.1, on a processor with VNNI: without, ONNX Runtime's own sums saturate.
"""

import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

random = np.random.default_rng(5)
nodes, weights = [], []


def constant(array):
    name = f"w{len(weights)}"
    weights.append(numpy_helper.from_array(array.astype(np.float32), name))
    return name


def node(operator, inputs, **attributes):
    name = f"v{len(nodes)}"
    nodes.append(helper.make_node(operator, inputs, [name], f"{operator}_{name}", **attributes))
    return name


def conv(x, inputs, outputs, kernel, stride=1, groups=1):
    shape = (outputs, inputs // groups, kernel, kernel)
    scale = np.sqrt(2 / np.prod(shape[1:]))
    return node(
        "Conv", [x, constant(random.normal(0, scale, shape)), constant(random.normal(0, 0.1, outputs))],
        kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)


def network():
    x = node("Relu", [conv("image", 3, 16, 3, 2)])
    y = node("Clip", [conv(x, 16, 32, 1), constant(np.array(0)), constant(np.array(6))])
    y = node("Clip", [conv(y, 32, 32, 3, 1, 32), constant(np.array(0)), constant(np.array(6))])
    x = node("Add", [conv(y, 32, 16, 1), x])
    x = node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = conv(node("Relu", [conv(x, 16, 16, 3)]), 16, 32, 3)
    x = node("Relu", [node("Add", [y, conv(x, 16, 32, 1)])])
    x = node("Flatten", [node("GlobalAveragePool", [x])])
    x = node("Gemm", [x, constant(random.normal(0, 0.2, (10, 32))), constant(random.normal(0, 0.1, 10))], transB=1)
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 20, 20])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Pictures(CalibrationDataReader):
    def __init__(self):
        self.rest = iter([{"image": picture()} for _ in range(8)])

    def get_next(self):
        return next(self.rest, None)


def picture():
    return random.uniform(-1, 1, (1, 3, 20, 20)).astype(np.float32)


folder = sys.argv[1]
plain = os.path.join(folder, "plain.onnx")
onnx.save(network(), plain)
for name, activations, by_channel in [("unsigned", QuantType.QUInt8, True), ("signed", QuantType.QInt8, False)]:
    path = os.path.join(folder, name + ".onnx")
    quantize_static(
        plain, path, Pictures(), quant_format=QuantFormat.QDQ, per_channel=by_channel, activation_type=activations,
        weight_type=QuantType.QInt8)
    # Four pictures, one after the other.
    pictures = [picture() for _ in range(4)]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    results = [session.run(None, {"image": image})[0] for image in pictures]
    for part, arrays in [("input", pictures), ("output", results)]:
        with open(os.path.join(folder, f"{name}.{part}.pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.concatenate(arrays)).SerializeToString())
os.remove(plain)
