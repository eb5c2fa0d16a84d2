"""TensorFlow: functions, SavedModels, and Keras models that it computes, as StableHLO that its own compiler writes."""

import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.compile_options import SAVED_MODEL
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import first_line, installed, refuse_library_errors
from tvm_pulp.frontend.saved_model_check import checked_saved_model
from tvm_pulp.frontend.stablehlo_program.files import module_of
from tvm_pulp.frontend.stablehlo_program.program import OwnValues, StablehloProgram, import_jax
from tvm_pulp.temporary import TemporaryFolder


def import_tensorflow(what: str) -> Any:
    """TensorFlow; JAX' library reads what it writes."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tensorflow = installed("tensorflow", "TensorFlow", what, "tensorflow")
    import_jax(what)
    return tensorflow


def tensorflow_program(model: Any, example_inputs: Any) -> StablehloProgram:
    """A `tf.function`, a `tf.Module` that can be called, or what `tf.saved_model.load` gave."""
    name = getattr(model, "__name__", type(model).__name__)
    tf = import_tensorflow(name)
    if hasattr(model, "signatures") and not callable(model):
        return _of_signature(tf, model, name)
    refuse_if(not callable(model), f"a {type(model).__name__} of TensorFlow is no model: give a tf.function")
    refuse_if(example_inputs is None, f"{name} is traced for inputs of fixed shapes: give example_inputs=(array, ...)")
    given = example_inputs if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
    return compiled(tf, model, [np.asarray(a) for a in given], name, "TensorFlow")


def load_saved_model(path: Path) -> StablehloProgram:
    """The serving function of a SavedModel folder; all of it is checked before TensorFlow loads anything."""
    tf = import_tensorflow(f"'{path}'")
    refused = refuse_library_errors(f"'{path}' is no readable SavedModel", ": write it again", first_line)
    with refused, _alone(checked_saved_model(path), path) as folder:
        loaded = tf.saved_model.load(folder)
    return _of_signature(tf, loaded, f"'{path}'")


@contextmanager
def _alone(content: bytes, path: Path) -> Iterator[str]:
    """A folder with this as its `saved_model.pb`, beside the variables of another: nothing else of that is read."""
    with TemporaryFolder() as folder:
        (folder / SAVED_MODEL).write_bytes(content)
        variables = folder / "variables"
        variables.mkdir()
        for file in (path / "variables").glob("variables.*"):
            (variables / file.name).symlink_to(file.resolve())
        yield str(folder)


def _of_signature(tf: Any, loaded: Any, name: str) -> StablehloProgram:
    signatures = dict(getattr(loaded, "signatures", {}))
    if not signatures:
        raise UserError(f"{name} has no signature: save it with tf.saved_model.save(model, path, signatures=function)")
    chosen = "serving_default" if "serving_default" in signatures else sorted(signatures)[0]
    function = signatures[chosen]
    specs = function.structured_input_signature[1]
    examples = []
    for key, spec in specs.items():
        shape = [1 if place == 0 and size is None else size for place, size in enumerate(spec.shape.as_list())]
        refuse_if(None in shape, f"{name}: input '{key}' has a free size: save a signature of fixed shapes")
        examples.append(np.zeros(shape, spec.dtype.as_numpy_dtype))
    keys = list(specs)

    def call(*inputs: Any) -> Any:
        return function(**dict(zip(keys, inputs, strict=True)))

    call.owner = loaded  # type: ignore[attr-defined]  # its variables live as long as it does
    return compiled(tf, call, examples, name, "TensorFlow", keys)


def compiled(
    tf: Any,
    function: Callable[..., Any],
    examples: Sequence[np.ndarray],
    name: str,
    framework: str,
    names: Sequence[str] = (),
) -> StablehloProgram:
    """The program that TensorFlow's bridge to XLA makes of a function: arguments are the inputs, then the variables."""
    specs = [tf.TensorSpec(a.shape, a.dtype) for a in examples]
    whole = tf.function(_of_these(function, len(specs)), jit_compile=True)
    way_out = ": make tf.function(model, jit_compile=True) work first"
    with refuse_library_errors(f"TensorFlow cannot compile {name}", way_out, _reason):
        concrete = whole.get_concrete_function(*specs)
        content = whole.experimental_get_compiler_ir(*specs)(stage="stablehlo_serialized")
    held = {id(v.handle): v for v in concrete.variables if hasattr(v, "handle")}
    parameters = [
        (held[id(c)].name.split(":")[0], held[id(c)].numpy()) if id(c) in held else ("", np.asarray(c))
        for c in concrete.captured_inputs
    ]
    inputs = list(names) or [a.name for a in concrete.inputs[: len(specs)] if not a.name.startswith("args")]
    inputs = (
        [n.split(":")[0] for n in inputs] if len(inputs) == len(specs) else [f"input_{n}" for n in range(len(specs))]
    )
    outputs = _output_names(tf, concrete.structured_outputs)
    module = module_of(content, name)

    def own(values: Sequence[np.ndarray]) -> OwnValues:
        made = function(*(tf.constant(v) for v in values))
        return OwnValues([m.numpy() for m in tf.nest.flatten(made)])

    return StablehloProgram(module, parameters, inputs, outputs, framework, parameters_last=True, own=own)


def _of_these(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of its first arguments alone: TensorFlow's compiler stumbles over others, which have defaults."""
    try:
        kinds = inspect.signature(getattr(function, "python_function", function))
    except (TypeError, ValueError):
        return function
    taken = [p for p in kinds.parameters.values() if p.name != "self"]
    if len(taken) <= count or any(p.kind == p.VAR_POSITIONAL for p in taken):
        return function

    def call(*given: Any) -> Any:
        return function(*given)

    call.__signature__ = kinds.replace(parameters=taken[:count])  # type: ignore[attr-defined]
    return call


def _output_names(tf: Any, structure: Any) -> list[str]:
    if isinstance(structure, dict):
        return [str(k) for k in sorted(structure)]
    count = len(tf.nest.flatten(structure))
    return [f"output_{n}" if count > 1 else "output" for n in range(count)]


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if "uncompilable" in line or "not supported" in line or "Error" in line]
    return told[0][:200] if told else first_line(error)
