"""Runs an ONNX model with another engine for `bgrun-bench`, which speaks to it in lines.

    python inference.py ENGINE MODEL THREADS STREAMS INPUTS.json

THREADS compute one batch together, and STREAMS batches go on at once. INPUTS.json has {"name", "type", "shape", "file"} for each input.
When the model is loaded and was run once, a line of JSON with the engine's version comes out, or with the reason why it does not run.
Then each line "run N" gives the seconds of N batches (wall and processor time), the longest of them and the process's peak memory,
and "outputs DIR" writes each output as float32, row-major, to DIR/NAME.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time

import numpy as np


class OnnxRuntime:
    def __init__(self, model, threads, streams, inputs):
        import onnxruntime

        self.version = onnxruntime.__version__
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in session.get_outputs()]
        # Any number of threads may run one session.
        self.runs = [lambda: session.run(self.names, inputs)] * streams


class OpenVINO:
    def __init__(self, model, threads, streams, inputs, precision="f32"):
        import openvino

        self.version = openvino.__version__
        core = openvino.Core()
        network = core.read_model(model)
        network.reshape({name: list(value.shape) for name, value in inputs.items()})
        settings = {
            "INFERENCE_NUM_THREADS": threads * streams, "NUM_STREAMS": streams, "INFERENCE_PRECISION_HINT": precision}
        compiled = core.compile_model(network, "CPU", settings)
        self.names = [output.get_any_name() for output in compiled.outputs]
        self.runs = [self.stream(compiled.create_infer_request(), inputs) for _ in range(streams)]

    def stream(self, request, inputs):
        def run():
            request.infer(inputs, share_inputs=True)
            return [request.get_output_tensor(i).data for i in range(len(self.names))]

        return run


class NCNN:
    """The rows of a batch go through the model one after the other, as ncnn itself does it with a batch."""

    def __init__(self, model, threads, streams, inputs):
        import ncnn
        import onnx

        self.ncnn, self.version = ncnn, ncnn.__version__
        self.names = [output.name for output in onnx.load(model, load_external_data=False).graph.output]
        files = self.converted(model, inputs)
        self.net = ncnn.Net()
        self.net.opt.num_threads = threads
        for half in ("packed", "storage", "arithmetic"):
            setattr(self.net.opt, "use_fp16_" + half, False)
        self.net.opt.use_bf16_storage = False
        if self.net.load_param(files + ".param") != 0 or self.net.load_model(files + ".bin") != 0:
            raise RuntimeError("ncnn does not load what pnnx made")
        batch = len(next(iter(inputs.values())))
        self.rows = [[np.ascontiguousarray(value[row]) for value in inputs.values()] for row in range(batch)]
        self.runs = [self.run] * streams

    @staticmethod
    def converted(model, inputs):
        """The model as pnnx writes it, kept beside the model. Files without their endings."""
        # Its package is imported with PyTorch only, which its program does not need.
        program = os.path.join(os.path.dirname(importlib.util.find_spec("pnnx").origin), "pnnx")
        name = os.path.splitext(os.path.basename(model))[0]
        folder = os.path.join(os.path.dirname(model), "ncnn", name)
        files = os.path.join(folder, name + ".ncnn")
        if os.path.exists(files + ".bin") and os.path.getmtime(files + ".bin") > os.path.getmtime(model):
            return files
        os.makedirs(folder, exist_ok=True)
        # It writes beside the file that it is given.
        link = os.path.join(folder, name + ".onnx")
        if not os.path.lexists(link):
            os.symlink(os.path.abspath(model), link)
        kinds = {"float32": "f32", "int64": "i64"}
        shapes = ",".join(
            str([1, *value.shape[1:]]).replace(" ", "") + kinds[str(value.dtype)] for value in inputs.values())
        end = subprocess.run(
            [program, link, "inputshape=" + shapes, "fp16=0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if end.returncode != 0 or not os.path.exists(files + ".bin"):
            from importlib import metadata

            version = metadata.version("pnnx")
            raise RuntimeError(f"pnnx {version} does not convert it (status {end.returncode})")
        return files

    def run(self):
        rows = []
        for row in self.rows:
            extractor = self.net.create_extractor()
            for place, value in enumerate(row):
                extractor.input(f"in{place}", self.ncnn.Mat(value))
            rows.append([np.array(extractor.extract(f"out{place}")[1]) for place in range(len(self.names))])
        return [np.stack(parts) for parts in zip(*rows)]


ENGINES = {
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVINO,
    "openvino-bf16": lambda *arguments: OpenVINO(*arguments, precision="bf16"),
    "ncnn": NCNN,
}


def timed(run, count):
    """The last outputs, and the seconds of the longest run."""
    outputs, longest = None, 0.0
    for _ in range(count):
        start = time.perf_counter()
        outputs = run()
        longest = max(longest, time.perf_counter() - start)
    return outputs, longest


def main():
    engine, model, threads, streams, description = sys.argv[1:]
    inputs = {}
    for entry in json.load(open(description)):
        inputs[entry["name"]] = np.fromfile(entry["file"], entry["type"]).reshape(entry["shape"])
    try:
        peer = ENGINES[engine](model, int(threads), int(streams), inputs)
        outputs = [run() for run in peer.runs][0]
    except Exception as error:
        print(json.dumps({"trouble": str(error).strip().split("\n")[0]}), flush=True)
        return
    print(json.dumps({"version": peer.version}), flush=True)
    # Not a part of the start that `bgrun-bench inference-start` measures.
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(len(peer.runs))
    for line in sys.stdin:
        command, argument = line.split(maxsplit=1)
        if command == "run":
            share, rest = divmod(int(argument), len(peer.runs))
            wall, processor = time.perf_counter(), time.process_time()
            done = list(pool.map(timed, peer.runs, [share + (place < rest) for place in range(len(peer.runs))]))
            times = [time.perf_counter() - wall, time.process_time() - processor]
            outputs = done[0][0]
            peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) * 1024
            longest = max(end[1] for end in done)
            print(json.dumps(
                {"wall": times[0], "processor": times[1], "longest": longest, "peak": peak}), flush=True)
        else:
            for name, value in zip(peer.names, outputs):
                np.ascontiguousarray(value, np.float32).tofile(os.path.join(argument.strip(), name))
            print("{}", flush=True)


main()
