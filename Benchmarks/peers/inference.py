"""Runs an ONNX model with another engine for `bgrun-bench inference`, which speaks to it in lines.

    python inference.py ENGINE MODEL THREADS INPUTS.json

INPUTS.json has {"name", "type", "shape", "file"} for each input. When the model is loaded a line of JSON with the engine's version
comes out. Then each line "run N" gives the seconds of N runs (wall and processor time) and the process's peak memory, and "outputs DIR"
writes each output as float32, row-major, to DIR/NAME.
"""

import json
import os
import sys
import time

import numpy as np


def onnx_runtime(model, threads, inputs):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return onnxruntime.__version__, names, lambda: session.run(names, inputs)


def openvino(model, threads, inputs):
    import openvino

    core = openvino.Core()
    network = core.read_model(model)
    network.reshape({name: list(value.shape) for name, value in inputs.items()})
    precision = "bf16" if ENGINE.endswith("bf16") else "f32"
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision}
    compiled = core.compile_model(network, "CPU", settings)
    request = compiled.create_infer_request()
    names = [output.get_any_name() for output in compiled.outputs]

    def run():
        request.infer(inputs, share_inputs=True)
        return [request.get_output_tensor(i).data for i in range(len(names))]

    return openvino.__version__, names, run


ENGINE, model, threads, description = sys.argv[1:]
inputs = {}
for entry in json.load(open(description)):
    inputs[entry["name"]] = np.fromfile(entry["file"], entry["type"]).reshape(entry["shape"])
load = onnx_runtime if ENGINE == "onnxruntime" else openvino
version, names, run = load(model, int(threads), inputs)
outputs = run()
print(json.dumps({"version": version}), flush=True)
for line in sys.stdin:
    command, argument = line.split(maxsplit=1)
    if command == "run":
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(int(argument)):
            outputs = run()
        times = [time.perf_counter() - wall, time.process_time() - processor]
        peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) * 1024
        print(json.dumps({"wall": times[0], "processor": times[1], "peak": peak}), flush=True)
    else:
        for name, value in zip(names, outputs):
            np.ascontiguousarray(value, np.float32).tofile(os.path.join(argument.strip(), name))
        print("{}", flush=True)
