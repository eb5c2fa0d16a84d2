"""Networks of every framework by every route: how far results are from the framework's, and cycles.

python -m tests.frontend.stablehlo_program.matrix BACKEND NETWORK...    # cells as JSON, one per line

Keras reads its backend when it is imported, so there is a process for each.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx.numpy_helper import to_array

import tvm_pulp
from tvm_pulp.frontend.frameworks import as_program, load_program
from tvm_pulp.frontend.quantize import quick_model

Arrays = list[np.ndarray]
TARGET = "uma-neureka"
# Files that the cycles of other routes are compared with.
ONNX = ("ONNX by PyTorch", "ONNX by tf2onnx")


def keras_in_memory(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    from tests.frontend.stablehlo_program import keras_networks

    model, inputs = keras_networks.build(name)
    return as_program(model, None), inputs, keras_networks.computed(model, inputs)


def keras_file(name: str, folder: Path) -> tuple[Any, Arrays, Arrays] | None:
    """Files may not bring classes of their own, as those with learned positions do."""
    from tests.frontend.stablehlo_program import keras_networks

    if name in ("vit", "gpt"):
        return None
    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    model.save(folder / "net.keras")
    return load_program(folder / "net.keras", "keras"), inputs, expected


def saved_model(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    from tests.frontend.stablehlo_program import keras_networks

    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    model.export(str(folder / "saved"), verbose=False)
    return load_program(folder / "saved", "saved_model"), inputs, expected


def tensorflow_function(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    import tensorflow

    from tests.frontend.stablehlo_program import keras_networks

    model, inputs = keras_networks.build(name)
    function = tensorflow.function(lambda x: model(x, training=False))
    return as_program(function, tuple(inputs)), inputs, keras_networks.computed(model, inputs)


def flax_in_memory(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    from tests.frontend.stablehlo_program import flax_networks

    model, inputs = flax_networks.build(name)
    return as_program(model, tuple(inputs)), inputs, flax_networks.computed(model, inputs)


def flax_file(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    import jax

    from tests.frontend.stablehlo_program import flax_networks

    model, inputs = flax_networks.build(name)
    plain, variables = model.unbind()
    exported = jax.export.export(jax.jit(lambda x: plain.apply(variables, x)))(*inputs)
    (folder / "net.stablehlo").write_bytes(exported.mlir_module_serialized)
    expected = flax_networks.computed(model, inputs)
    return load_program(folder / "net.stablehlo", "stablehlo"), inputs, expected


def onnx_file(name: str, folder: Path) -> tuple[Any, Arrays, Arrays]:
    """The same network as PyTorch writes it: Keras' layers are modules of it; of a GRU its own module."""
    import onnx
    import torch

    from tests.frontend.stablehlo_program import keras_networks
    from tests.frontend.torch_program import routes

    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    module = _torch_gru(model) if name == "gru" else model
    path = routes.onnx_file(module, [torch.from_numpy(a) for a in inputs], routes.LEGACY, folder / "net.onnx")
    return onnx.load(path), inputs, expected


def tf2onnx_file(name: str, folder: Path) -> tuple[Any, Arrays, Arrays] | None:
    """The same network as tf2onnx writes it; it has no rule for GELU, and loops stay loops."""
    import onnx

    from tests.frontend.stablehlo_program import keras_networks

    if name in ("gru", "transformer", "vit", "gpt"):
        return None
    model, inputs = keras_networks.build(name)
    expected = keras_networks.computed(model, inputs)
    model.export(str(folder / "net.onnx"), format="onnx", verbose=False)
    made = onnx.load(folder / "net.onnx")
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1  # it leaves the batch open
    return made, inputs, expected


def _torch_gru(model: Any) -> Any:
    """Keras' GRU with the weights in PyTorch's order of gates."""
    import torch

    body, head = model.get_layer("body"), model.get_layer("head")
    width = body.units

    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.GRU(body.cell.kernel.shape[0], width, batch_first=True)
            self.head = torch.nn.Linear(width, head.units)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x)[0][:, -1])

    def turned(array: Any) -> Any:
        update, reset, hidden = np.split(np.asarray(array.detach()), 3, axis=-1)
        return torch.from_numpy(np.concatenate([reset, update, hidden], axis=-1).T.copy())

    made = Recurrent().eval()
    pairs = ((made.body.weight_ih_l0, body.cell.kernel), (made.body.weight_hh_l0, body.cell.recurrent_kernel))
    biases = ((made.body.bias_ih_l0, body.cell.bias[0]), (made.body.bias_hh_l0, body.cell.bias[1]))
    with torch.no_grad():
        for target, source in (*pairs, *biases):
            target.copy_(turned(getattr(source, "value", source)))
        made.head.weight.copy_(head.kernel.value.T)
        made.head.bias.copy_(head.bias.value)
    return made


# None where the route does not take the network.
Route = Callable[[str, Path], tuple[Any, Arrays, Arrays] | None]
ROUTES: dict[str, dict[str, Route]] = {
    "jax": {"Keras on JAX": keras_in_memory, ".keras": keras_file, "Flax": flax_in_memory, ".stablehlo": flax_file},
    "tensorflow": {
        "ONNX by tf2onnx": tf2onnx_file,
        "Keras on TensorFlow": keras_in_memory,
        "tf.function": tensorflow_function,
        "SavedModel": saved_model,
    },
    "torch": {"ONNX by PyTorch": onnx_file, "Keras on PyTorch": keras_in_memory},
}


def as_the_standard_says(model: Any, inputs: Sequence[np.ndarray]) -> Arrays:
    """What a quantized model computes node by node.

    Left to itself, onnxruntime replaces groups of nodes by kernels that round elsewhere: with attention that is some
    steps away from its own result for the nodes as they stand.
    """
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings)
    return session.run(None, {i.name: a for i, a in zip(session.get_inputs(), inputs, strict=True)})


def steps_of(model: Any) -> list[float]:
    """The size of a step of each output; of a float one what counts as equal."""
    constants = {i.name: i for i in model.graph.initializer}
    makers = {o: n for n in model.graph.node for o in n.output}
    ends = [makers[o.name] for o in model.graph.output]
    return [float(to_array(constants[n.input[1]])) if n.op_type == "DequantizeLinear" else 1e-4 for n in ends]


def apart(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray], units: Sequence[float]) -> float:
    pairs = zip(found, wanted, units, strict=True)
    return float(max(np.abs(a.reshape(b.shape) - b).max() / unit for a, b, unit in pairs))


def _ran(model: Any, inputs: Arrays) -> tuple[Arrays, int]:
    result = tvm_pulp.compile(model, TARGET).run(inputs)
    return list(result.outputs.values()), int(result.report["cycles"])


def samples(inputs: Arrays) -> Arrays:
    """Inputs, and others of their kind, for the calibration."""
    random = np.random.default_rng(0)
    further = [[random.normal(size=a.shape).astype(a.dtype) for _ in range(3)] for a in inputs]
    return [a if a.dtype.kind == "i" else np.concatenate([a, *more]) for a, more in zip(inputs, further, strict=True)]


def cell(route: Route, name: str) -> dict[str, Any] | None:
    """One network by one route: float beside the framework's results, int8 beside what the quantized model says."""
    with tempfile.TemporaryDirectory() as folder:
        given = route(name, Path(folder))
        if given is None:
            return None
        program, inputs, expected = given
        found, cycles = _ran(program, inputs)
        made = {"float": apart(found, expected, [max(1, np.abs(e).max()) for e in expected]), "cycles": cycles}
        names = getattr(program, "inputs", None) or [i.name for i in onnx_inputs(program)]
        model = quick_model(program, dict(zip(names, samples(inputs), strict=True)))
        found, made["int8_cycles"] = _ran(model, inputs)
        made["int8"] = apart(found, as_the_standard_says(model, inputs), steps_of(model))
        return made


def onnx_inputs(program: Any) -> Any:
    from tvm_pulp.frontend.frameworks import onnx_model

    return (
        program if hasattr(program, "graph") and hasattr(program, "ir_version") else onnx_model(program, {})
    ).graph.input


def cells(backend: str, networks: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in networks:
        for title, route in ROUTES[backend].items():
            made = cell(route, name)
            if made is not None:
                yield {"network": name, "route": title, **made}


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = sys.argv[1]
    for made in cells(sys.argv[1], sys.argv[2:]):
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
