"""What frameworks' own quantizers make of the networks of the matrix, with the framework's own word on the result.

python -m tests.frontend.stablehlo_program.own_quantizers BACKEND NETWORK...    # cells as JSON, one per line
"""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Arrays = list[np.ndarray]
# A model as `compile` takes it, example inputs, inputs, what the framework computes, and a step of each output.
Quantized = tuple[Any, Any, Arrays, Arrays, list[float]]


def steps_of_floats(results: Arrays) -> list[float]:
    """Of results that stay float: what eight bits would resolve."""
    return [max(float(np.abs(r).max()), 1e-30) / 127 for r in results]


def keras_int8(name: str, folder: Path) -> Quantized:
    """`model.quantize("int8")`: dense layers and embeddings, ranges of activations at run time."""
    from tests.frontend.stablehlo_program import keras_networks

    model, inputs = keras_networks.build(name)
    with warnings.catch_warnings(action="ignore"):  # names layers that it leaves alone
        model.quantize("int8")
    expected = keras_networks.computed(model, inputs)
    return model, None, inputs, expected, steps_of_floats(expected)


def qwix_int8(name: str, folder: Path) -> Quantized:
    """qwix' `PtqProvider`: weights and activations of convolutions and products, ranges at run time."""
    function, inputs = _by_qwix(name)
    expected = _jitted(function, inputs)
    return function, tuple(inputs), inputs, expected, steps_of_floats(expected)


def _by_qwix(name: str, seed: int | None = None) -> tuple[Callable[..., Any], Arrays]:
    """A quantized network and its inputs; with a seed, some of its floats are the next float above or below."""
    import jax
    import qwix
    from jax import numpy as jnp

    from tests.frontend.stablehlo_program import flax_networks

    bound, inputs = flax_networks.build(name)
    plain, variables = bound.unbind()
    rules = [qwix.QuantizationRule(module_path=".*", weight_qtype=jnp.int8, act_qtype=jnp.int8)]
    model = qwix.quantize_model(plain, qwix.PtqProvider(rules))
    shapes = jax.eval_shape(model.init, jax.random.key(0), *inputs)
    parameters = qwix.quantize_params(jax.tree.map(jnp.asarray, variables["params"]), shapes["params"])
    held = {**variables, "params": parameters}
    if seed is not None:
        random = np.random.default_rng(seed)

        def nudged(leaf: Any) -> Any:
            array = np.asarray(leaf)
            ends = random.choice(np.array([-np.inf, np.inf], np.float32), array.shape)
            return jnp.asarray(np.nextafter(array, ends)) if array.dtype == np.float32 else leaf

        held = jax.tree.map(nudged, held)

    def function(x: Any) -> Any:
        return model.apply(held, x)

    return function, inputs


def _jitted(function: Callable[..., Any], inputs: Arrays) -> Arrays:
    import jax

    return [np.asarray(a) for a in jax.tree_util.tree_leaves(jax.jit(function)(*inputs))]


def width_of_qwix(name: str) -> float:
    """How many steps apart `jax.jit` is from itself when the last bits of the parameters are others.

    A row is divided by the 127.5th of its largest value. Where that value is negative, it becomes -127 or -128 by the
    last bit of what was computed before.
    """
    from tests.frontend.stablehlo_program.matrix import apart

    function, inputs = _by_qwix(name)
    expected = _jitted(function, inputs)
    others = (_jitted(_by_qwix(name, seed)[0], inputs) for seed in range(8))
    return max(apart(other, expected, steps_of_floats(expected)) for other in others)


def litert_file(name: str, folder: Path, *, is_quantized: bool = True) -> Path:
    """LiteRT's converter, with the inputs and others of their kind as samples."""
    import tensorflow as tf

    from tests.frontend.stablehlo_program import keras_networks

    model, inputs = keras_networks.build(name)
    model.export(str(folder / "saved"), verbose=False)
    random = np.random.default_rng(0)
    others = [[random.normal(size=a.shape).astype(a.dtype) for a in inputs] for _ in range(7)]
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved"))
    if is_quantized:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: iter([inputs, *others])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    (folder / "net.tflite").write_bytes(converter.convert())
    return folder / "net.tflite"


# LiteRT's converter does not write loops over lists of tensors.
NOT_CONVERTED = ("gru",)


def litert_int8(name: str, folder: Path, *, is_quantized: bool = True) -> Quantized | None:
    """LiteRT's post-training quantization, beside its reference kernels: every result an int8."""
    from tests.frontend.stablehlo_program import keras_networks

    if name in NOT_CONVERTED:
        return None
    path = litert_file(name, folder, is_quantized=is_quantized)
    inputs, expected = by_litert(path, keras_networks.build(name)[1])
    return path, None, inputs, expected, [1.0] * len(expected) if is_quantized else steps_of_floats(expected)


def litert_float(name: str, folder: Path) -> Quantized | None:
    """The same file with floats."""
    return litert_int8(name, folder, is_quantized=False)


def by_litert(path: Path, inputs: Arrays) -> tuple[Arrays, Arrays]:
    """Inputs as a file takes them, and what LiteRT's reference kernels make of them."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF
    machine = Interpreter(model_content=_for_reference_kernels(path), experimental_op_resolver_type=resolver)
    machine.allocate_tensors()
    given = []
    for detail, array in zip(machine.get_input_details(), inputs, strict=True):
        dtype = detail["dtype"]
        if dtype in (np.int8, np.int16):
            scale, zero = detail["quantization"]
            ends = np.iinfo(dtype)
            array = np.clip(np.round(array / scale) + zero, ends.min, ends.max).astype(dtype)
        machine.set_tensor(detail["index"], array)
        given.append(array)
    machine.invoke()
    return given, [machine.get_tensor(d["index"]) for d in machine.get_output_details()]


def _for_reference_kernels(path: Path) -> bytes:
    """The file with TILE in the version that the reference kernels are listed for; they compute the newer one too."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(path.read_bytes(), 0))
    for code in model.operatorCodes:
        if code.builtinCode == schema.BuiltinOperator.TILE:
            code.version = 2
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


QUANTIZERS: dict[str, dict[str, Callable[[str, Path], Quantized | None]]] = {
    "jax": {"Keras int8 on JAX": keras_int8, "qwix": qwix_int8},
    "tensorflow": {"Keras int8 on TensorFlow": keras_int8, "LiteRT": litert_int8, "LiteRT float": litert_float},
    "torch": {"Keras int8 on PyTorch": keras_int8},
}


def cell(quantizer: Callable[[str, Path], Quantized | None], name: str) -> dict[str, Any] | None:
    """How many steps the program is from what the framework computes, and its cycles."""
    import tvm_pulp
    from tests.frontend.stablehlo_program.matrix import TARGET, apart

    with tempfile.TemporaryDirectory() as folder:
        given = quantizer(name, Path(folder))
        if given is None:
            return None
        model, examples, inputs, expected, steps = given
        result = tvm_pulp.compile(model, TARGET, example_inputs=examples).run(inputs)
        found = [a.astype(np.float64) for a in result.outputs.values()]
        made = {"steps": apart(found, expected, steps), "cycles": int(result.report["cycles"])}
        return {**made, "width": width_of_qwix(name)} if quantizer is qwix_int8 and made["steps"] > 0.1 else made


def cells(backend: str, networks: Sequence[str]) -> Iterator[dict[str, Any]]:
    for title, quantizer in QUANTIZERS[backend].items():
        for name in networks:
            made = cell(quantizer, name)
            if made is not None:
                yield {"network": name, "quantizer": title, **made}


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = sys.argv[1]
    for made in cells(sys.argv[1], sys.argv[2:]):
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
