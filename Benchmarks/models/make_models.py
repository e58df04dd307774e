"""Writes the networks that `bgrun-bench inference` runs: published architectures, weights made from a seed.

    python make_models.py FOLDER [NAME ...]

They are written as PyTorch's exporter writes them (batch normalisation folded, GELU by Erf, attention by Reshape and
Transpose; MiniLM in operator set 14 with layer normalisation in single operators), with an extent "batch". Needs onnx and numpy.
"""

import math
import os
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """A graph under construction; methods take and give names of values."""

    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.count = 0

    def node(self, operator, inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"{operator.lower()}_{self.count}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, f"{operator}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array, name="constant"):
        self.count += 1
        name = f"{name}_{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def normal(self, shape, deviation):
        return self.constant(self.random.normal(0, deviation, shape).astype(np.float32), "weight")

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["batch"] + shape))
        return name

    def output(self, value, name, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], f"Identity_{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch"] + shape))

    def write(self, folder):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        # The output is the last node's own value, as exporters have it.
        for output, node in [(o, n) for o in graph.output for n in graph.node if n.output[0] == o.name]:
            inner = node.input[0]
            graph.node.remove(node)
            for other in graph.node:
                for names in (other.input, other.output):
                    for i, name in enumerate(names):
                        if name == inner:
                            names[i] = output.name
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8, producer_name="make_models")
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        path = os.path.join(folder, self.name + ".onnx")
        onnx.save(model, path + ".part")
        os.replace(path + ".part", path)
        print(path)

    # Layers

    def conv(self, x, inputs, outputs, kernel, stride=1, groups=1, padding=None, gain=1.0):
        fan = inputs // groups * kernel * kernel
        weights = self.normal((outputs, inputs // groups, kernel, kernel), gain * math.sqrt(2 / fan))
        padding = kernel // 2 if padding is None else padding
        return self.node(
            "Conv", [x, weights, self.normal((outputs,), 0.05)], kernel_shape=[kernel] * 2, strides=[stride] * 2,
            pads=[padding] * 4, group=groups, dilations=[1, 1])

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        return self.node("Clip", [x, self.number(0), self.number(6)])

    def add(self, x, y):
        return self.node("Add", [x, y])

    def gemm(self, x, inputs, outputs):
        return self.node(
            "Gemm", [x, self.normal((outputs, inputs), math.sqrt(1 / inputs)), self.normal((outputs,), 0.05)],
            alpha=1.0, beta=1.0, transB=1)

    def linear(self, x, inputs, outputs):
        product = self.node("MatMul", [x, self.normal((inputs, outputs), math.sqrt(1 / inputs))])
        return self.add(self.normal((outputs,), 0.05), product)

    def gelu(self, x):
        inner = self.node("Erf", [self.node("Div", [x, self.number(math.sqrt(2))])])
        product = self.node("Mul", [x, self.add(inner, self.number(1))])
        return self.node("Mul", [product, self.number(0.5)])

    def layer_norm(self, x, size, epsilon):
        scale = self.constant(self.random.normal(1, 0.1, size).astype(np.float32))
        shift = self.normal((size,), 0.1)
        if self.opset >= 17:
            return self.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=epsilon)
        centred = self.node("Sub", [x, self.node("ReduceMean", [x], axes=[-1])])
        variance = self.node("ReduceMean", [self.node("Pow", [centred, self.number(2)])], axes=[-1])
        deviation = self.node("Sqrt", [self.add(variance, self.number(epsilon))])
        return self.add(self.node("Mul", [self.node("Div", [centred, deviation]), scale]), shift)

    def reshape(self, x, *shape):
        return self.node("Reshape", [x, self.integers(*shape)])

    def transpose(self, x, *order):
        return self.node("Transpose", [x], perm=order)

    def classifier(self, x, inputs, classes=1000):
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        self.output(self.gemm(x, inputs, classes), "logits", [classes])


def resnet50():
    """He et al., Deep Residual Learning for Image Recognition, 2016, with the stride in the 3x3 convolution."""
    net = Network("resnet50")
    x = net.relu(net.conv(net.input("image", [3, 224, 224]), 3, 64, 7, 2))
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=0)
    channels = 64
    for width, blocks, first in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            stride = first if block == 0 else 1
            y = net.relu(net.conv(x, channels, width, 1))
            y = net.relu(net.conv(y, width, width, 3, stride))
            y = net.conv(y, width, 4 * width, 1, gain=0.3)
            if block == 0:
                x = net.conv(x, channels, 4 * width, 1, stride, gain=0.7)
            x = net.relu(net.add(y, x))
            channels = 4 * width
    net.classifier(x, channels)
    return net


def mobilenet_v2():
    """Sandler et al., MobileNetV2, 2018, width 1."""
    net = Network("mobilenet_v2")
    x = net.relu6(net.conv(net.input("image", [3, 224, 224]), 3, 32, 3, 2))
    channels = 32
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, outputs, blocks, first in stages:
        for block in range(blocks):
            stride, hidden = first if block == 0 else 1, channels * expansion
            y = net.relu6(net.conv(x, channels, hidden, 1)) if expansion > 1 else x
            y = net.relu6(net.conv(y, hidden, hidden, 3, stride, groups=hidden))
            y = net.conv(y, hidden, outputs, 1, gain=0.7)
            x = net.add(x, y) if stride == 1 and channels == outputs else y
            channels = outputs
    net.classifier(net.relu6(net.conv(x, channels, 1280, 1)), 1280)
    return net


def espcn(factor=3):
    """Shi et al., Real-Time Single Image and Video Super-Resolution, 2016; layers as in PyTorch's example."""
    net = Network("espcn")
    x = net.input("luma", [1, 224, 224])
    for inputs, outputs, kernel in [(1, 64, 5), (64, 64, 3), (64, 32, 3)]:
        x = net.relu(net.conv(x, inputs, outputs, kernel))
    x = net.conv(x, 32, factor * factor, 3)
    # As the exporter writes PixelShuffle.
    net.output(net.node("DepthToSpace", [x], blocksize=factor, mode="CRD"), "larger", [1, 224 * factor, 224 * factor])
    return net


def edsr(blocks=16, width=64):
    """Lim et al., Enhanced Deep Residual Networks for Single Image Super-Resolution, 2017, the baseline, factor 2."""
    net = Network("edsr")
    head = x = net.conv(net.input("image", [3, 96, 96]), 3, width, 3)
    for _ in range(blocks):
        y = net.conv(net.relu(net.conv(x, width, width, 3)), width, width, 3, gain=0.5)
        x = net.add(y, x)
    x = net.add(net.conv(x, width, width, 3, gain=0.5), head)
    x = net.conv(x, width, 4 * width, 3)
    # PixelShuffle as older exporters write it.
    x = net.reshape(x, -1, width, 2, 2, 96, 96)
    x = net.reshape(net.transpose(x, 0, 1, 4, 2, 5, 3), -1, width, 192, 192)
    net.output(net.conv(x, width, 3, 3), "larger", [3, 192, 192])
    return net


def unet(width=32, depth=4):
    """Ronneberger et al., U-Net, 2015, padded, half as wide."""
    net = Network("unet")
    x, channels, skipped = net.input("image", [3, 256, 256]), 3, []

    def double(x, inputs, outputs):
        return net.relu(net.conv(net.relu(net.conv(x, inputs, outputs, 3)), outputs, outputs, 3))

    for level in range(depth):
        x = double(x, channels, width << level)
        channels = width << level
        skipped.append(x)
        x = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = double(x, channels, 2 * channels)
    channels *= 2
    for level in reversed(range(depth)):
        outputs = width << level
        weights = net.normal((channels, outputs, 2, 2), math.sqrt(2 / channels))
        x = net.node(
            "ConvTranspose", [x, weights, net.normal((outputs,), 0.05)], kernel_shape=[2, 2], strides=[2, 2],
            pads=[0] * 4, dilations=[1, 1], group=1)
        x = double(net.node("Concat", [skipped[level], x], axis=1), 2 * outputs, outputs)
        channels = outputs
    net.output(net.conv(x, channels, 2, 1), "mask", [2, 256, 256])
    return net


def vit(size=384, heads=6, layers=12):
    """Dosovitskiy et al., An Image is Worth 16x16 Words, 2021, in the small form of Touvron et al. 2021 (S/16)."""
    net = Network("vit_s_16")
    tokens = 197
    x = net.conv(net.input("image", [3, 224, 224]), 3, size, 16, 16, padding=0)
    x = net.transpose(net.reshape(x, 0, size, tokens - 1), 0, 2, 1)
    batch = net.node("Gather", [net.node("Shape", [x]), net.constant(np.array(0, np.int64))], axis=0)
    batch = net.node("Unsqueeze", [batch, net.integers(0)])
    shape = net.node("Concat", [batch, net.integers(1, size)], axis=0)
    token = net.node("Expand", [net.normal((1, 1, size), 0.02), shape])
    x = net.add(net.node("Concat", [token, x], axis=1), net.normal((1, tokens, size), 0.02))
    for _ in range(layers):
        y = net.linear(net.layer_norm(x, size, 1e-6), size, 3 * size)
        y = net.transpose(net.reshape(y, 0, tokens, 3, heads, size // heads), 2, 0, 3, 1, 4)
        query, key, value = (
            net.node("Gather", [y, net.constant(np.array(i, np.int64))], axis=0) for i in range(3))
        query = net.node("Mul", [query, net.number((size // heads) ** -0.5)])
        scores = net.node("MatMul", [query, net.transpose(key, 0, 1, 3, 2)])
        y = net.node("MatMul", [net.node("Softmax", [scores], axis=-1), value])
        y = net.reshape(net.transpose(y, 0, 2, 1, 3), 0, tokens, size)
        x = net.add(x, net.linear(y, size, size))
        y = net.gelu(net.linear(net.layer_norm(x, size, 1e-6), size, 4 * size))
        x = net.add(x, net.linear(y, 4 * size, size))
    x = net.layer_norm(x, size, 1e-6)
    x = net.node("Gather", [x, net.constant(np.array(0, np.int64))], axis=1)
    net.output(net.gemm(x, size, 1000), "logits", [1000])
    return net


def minilm(size=384, heads=12, layers=6, tokens=128, words=30522):
    """Wang et al., MiniLM, 2020: BERT (Devlin et al. 2019) of 6 layers of 384."""
    net = Network("minilm", opset=14)
    identifiers = net.input("input_ids", [tokens], TensorProto.INT64)
    mask = net.input("attention_mask", [tokens], TensorProto.INT64)
    types = net.input("token_type_ids", [tokens], TensorProto.INT64)
    mask = net.node("Unsqueeze", [net.node("Unsqueeze", [mask, net.integers(1)]), net.integers(2)])
    mask = net.node("Sub", [net.number(1), net.node("Cast", [mask], to=TensorProto.FLOAT)])
    mask = net.node("Mul", [mask, net.number(-3.4e38)])
    x = net.add(
        net.node("Gather", [net.normal((words, size), 0.5), identifiers], axis=0),
        net.node("Gather", [net.normal((2, size), 0.5), types], axis=0))
    positions = net.node(
        "Slice", [net.constant(np.arange(512, dtype=np.int64)[None]), net.integers(0), net.integers(tokens),
                  net.integers(1), net.integers(1)])
    x = net.add(x, net.node("Gather", [net.normal((512, size), 0.5), positions], axis=0))
    x = net.layer_norm(x, size, 1e-12)
    for _ in range(layers):
        parts = []
        for order in [(0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)]:
            part = net.linear(x, size, size)
            shape = net.node("Shape", [part])
            batch, length = (
                net.node("Unsqueeze", [
                    net.node("Gather", [shape, net.constant(np.array(i, np.int64))], axis=0), net.integers(0)])
                for i in range(2))
            shape = net.node("Concat", [batch, length, net.integers(heads), net.integers(size // heads)], axis=0)
            parts.append(net.transpose(net.node("Reshape", [part, shape]), *order))
        query, key, value = parts
        scores = net.node("Div", [net.node("MatMul", [query, key]), net.number(math.sqrt(size // heads))])
        weights = net.node("Softmax", [net.add(scores, mask)], axis=-1)
        y = net.transpose(net.node("MatMul", [weights, value]), 0, 2, 1, 3)
        y = net.linear(net.reshape(y, 0, 0, size), size, size)
        x = net.layer_norm(net.add(y, x), size, 1e-12)
        y = net.linear(net.gelu(net.linear(x, size, 4 * size)), 4 * size, size)
        x = net.layer_norm(net.add(y, x), size, 1e-12)
    net.output(x, "last_hidden_state", [tokens, size])
    first = net.node("Gather", [x, net.constant(np.array(0, np.int64))], axis=1)
    net.output(net.node("Tanh", [net.gemm(first, size, size)]), "pooler_output", [size])
    return net


NETWORKS = [mobilenet_v2, resnet50, edsr, espcn, unet, vit, minilm]

if __name__ == "__main__":
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for network in NETWORKS:
        if not names or network.__name__ in names:
            network().write(folder)
