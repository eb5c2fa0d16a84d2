"""What a model's framework makes of inputs, beside what the compiled program made; a process of its own, because
frameworks may end theirs when they read a damaged model.

A request is a line of JSON: the model and an .npz file of the worker's. An answer is another: a complaint, an empty
text where outputs agree, null where the framework does not run the model.
"""

import json
import os
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# Steps of integers by which two right results may differ: a framework adds and rounds in its own order.
STEPS = 1
# Of the largest value, for floats.
RELATIVE = 1e-3


def onnxruntime_outputs(model: Path, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """In the order of the graph, without any optimization."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


def tflite_outputs(model: Path, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """In the order of the graph; of the reference kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    machine = Interpreter(str(model), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    machine.allocate_tensors()
    for detail, feed in zip(machine.get_input_details(), feeds.values(), strict=True):
        machine.set_tensor(detail["index"], feed)
    machine.invoke()
    return [np.array(machine.get_tensor(detail["index"])) for detail in machine.get_output_details()]


def difference(found: np.ndarray, expected: np.ndarray) -> str:
    """How an output differs from what it should be; empty where it does not."""
    if found.shape != expected.shape:
        return f"shape {list(found.shape)} instead of {list(expected.shape)}"
    if found.dtype != expected.dtype:
        return f"{found.dtype} instead of {expected.dtype}"
    if found.dtype.kind in "iub":
        steps = np.abs(found.astype(np.int64) - expected.astype(np.int64)).max(initial=0)
        return f"{steps} steps apart" if steps > STEPS else ""
    one, other = found.astype(np.float64), expected.astype(np.float64)
    strange = ~np.isfinite(one) | ~np.isfinite(other)
    if not np.array_equal(one[strange], other[strange], equal_nan=True):
        return "other NaN or infinite values"
    one, other = one[~strange], other[~strange]
    apart, largest = np.abs(one - other).max(initial=0.0), np.abs(other).max(initial=0.0)
    return f"{apart:.3g} apart where the largest is {largest:.3g}" if apart > RELATIVE * largest + 1e-30 else ""


def judge(model: Path, arrays: Path) -> str | None:
    """The answer to one request."""
    outputs = tflite_outputs if model.suffix == ".tflite" else onnxruntime_outputs
    with np.load(arrays, allow_pickle=False) as file:
        feeds = {key.removeprefix("in:"): file[key] for key in file.files if key.startswith("in:")}
        found = {key.removeprefix("out:"): file[key] for key in file.files if key.startswith("out:")}
    try:
        expected = outputs(model, feeds)
    except Exception:
        return None
    if len(found) != len(expected):
        return f"{len(found)} outputs instead of {len(expected)}"
    complaints = [(name, difference(a, b)) for (name, a), b in zip(found.items(), expected, strict=True)]
    return "; ".join(f"output '{name}': {text}" for name, text in complaints if text)


def serve() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(2, 1)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        print(json.dumps(judge(Path(request["model"]), Path(request["arrays"]))), file=answers, flush=True)


if __name__ == "__main__":
    serve()
