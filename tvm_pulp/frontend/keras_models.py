"""Keras 3 models: by the way of the backend that computes them."""

import importlib.util
import inspect
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.keras_file_check import check_keras_file
from tvm_pulp.frontend.library_errors import refuse_library_errors, sentence

NEEDED = "pip install 'tvm_pulp[keras]'"


def import_keras(what: str) -> Any:
    """Keras, with a backend that is installed where the user has not chosen one."""
    if "keras" not in sys.modules and "KERAS_BACKEND" not in os.environ:
        found = [b for b in ("jax", "torch", "tensorflow") if importlib.util.find_spec(b) is not None]
        os.environ["KERAS_BACKEND"] = found[0] if found else "jax"
    try:
        import keras
    except ImportError as error:
        missing = "Keras" if getattr(error, "name", "") == "keras" else f"Keras' backend '{error.name}'"
        raise UserError(f"{what} needs {missing}, which is not installed: {NEEDED}") from None
    return keras


def load_keras(path: Path) -> Any:
    """The model in a `.keras` file, in Keras' safe mode: layers that hold Python code are refused."""
    check_keras_file(path)
    keras = import_keras(f"'{path}'")
    way_out = ": save it with model.save, of Keras' layers"
    with refuse_library_errors(f"'{path}' is no Keras model that can be read", way_out, sentence):
        model = keras.saving.load_model(str(path), compile=False, safe_mode=True)
    return keras_program(model, None)


def keras_program(model: Any, example_inputs: Any) -> Any:
    """A model as a program for inputs like these, by default for one sample of the shapes it declares."""
    keras = import_keras(f"a {type(model).__name__} of Keras")
    backend = keras.backend.backend()
    name = getattr(model, "name", type(model).__name__)
    refuse_if(
        not isinstance(model, keras.Layer),
        f"a {type(model).__name__} of Keras is no model: give a keras.Model or a layer",
    )
    given = _examples(model, name) if example_inputs is None else example_inputs
    inputs = given if isinstance(given, (tuple, list, dict)) else (given,)
    refuse_if(not model.built, f"Keras model '{name}' has no weights yet: call it once, or model.build(shape)")
    if backend == "torch":
        from tvm_pulp.frontend import torch_program

        return torch_program.as_program(model, inputs)
    on_backend = {"jax": _on_jax, "tensorflow": _on_tensorflow}.get(backend)
    if on_backend is None:
        raise UserError(f"Keras computes '{name}' with '{backend}': choose KERAS_BACKEND=jax, torch or tensorflow")
    declared = getattr(model, "inputs", None)
    # Several declared inputs are given as a list.
    structured = declared is not None and len(inputs) > 1
    made = on_backend(model, inputs, f"Keras model '{name}'", structured, [t.name for t in declared or []])
    # A program of open lengths has no values of its own.
    return replace(made, own=_own_values(model, structured)) if hasattr(made, "own") else made


def _examples(model: Any, name: str) -> Any:
    """Zeros of the declared shapes; a free batch is one sample."""
    declared = getattr(model, "inputs", None)
    if not declared:
        raise UserError(f"Keras model '{name}' declares no inputs: give example_inputs=(array, ...)")
    made = []
    for tensor in declared:
        shape = [1 if axis == 0 and size is None else size for axis, size in enumerate(tensor.shape)]
        refuse_if(
            None in shape,
            f"input '{tensor.name}' of Keras model '{name}' has a free size: give example_inputs=(array, ...)",
        )
        made.append(np.zeros(shape, str(tensor.dtype)))
    return tuple(made)


def _for_inference(model: Any) -> dict[str, bool]:
    """Arguments that say so to a model; a class of the user's may take none, and nothing in it is in training then."""
    taken = inspect.signature(model.call).parameters
    return {"training": False} if "training" in taken else {}


def _on_jax(model: Any, inputs: Any, name: str, structured: bool, names: list[str]) -> Any:
    from tvm_pulp.frontend.stablehlo_program.program import lowered

    variables = (model.trainable_variables, model.non_trainable_variables)

    def call(held: Any, *given: Any, **named: Any) -> Any:
        arguments = [list(given)] if structured else list(given)
        return model.stateless_call(*held, *arguments, **named, **_for_inference(model))[0]

    def path_of(path: Any) -> str:
        return str(variables[path[0].idx][path[1].idx].path)

    values = tuple([v.value for v in group] for group in variables)
    # A class of the user's names its inputs there.
    signature = None if getattr(model, "inputs", None) else model.call
    made = lowered(call, values, inputs, name, "Keras", path_of, signature=signature)
    # A program of open lengths keeps its own names.
    return replace(made, inputs=names) if hasattr(made, "own") and 0 < len(names) == len(made.inputs) else made


def _own_values(model: Any, structured: bool) -> Any:
    """A function that calls the model as its users do; of declared layers it gives every result."""
    import keras

    from tvm_pulp.frontend.stablehlo_program.program import OwnValues

    def arrays(made: Any) -> list[np.ndarray]:
        return [np.asarray(keras.ops.convert_to_numpy(m)) for m in keras.tree.flatten(made)]

    def own(values: Any) -> OwnValues:
        given = list(values) if structured else values[0] if len(values) == 1 else values
        how = _for_inference(model)
        results = arrays(model(given, **how) if structured or len(values) == 1 else model(*given, **how))
        known = {n: tensor for n, tensor in _single_results(model, keras).items() if len(values) == len(model.inputs)}
        if not known:
            return OwnValues(results)
        made = keras.Model(model.inputs, list(known.values()))(list(values), training=False)
        return OwnValues(results, dict(zip(known, arrays(made), strict=True)))

    return own


def _single_results(model: Any, keras: Any) -> dict[str, Any]:
    """Tensors of layers that are called once, by name; of a class of the user's nothing is known."""
    if getattr(model, "inputs", None) is None or getattr(model, "outputs", None) is None:
        return {}
    found: dict[str, Any] = {}
    for layer in model.layers:
        if len(layer._inbound_nodes) == 1 and not isinstance(layer, keras.layers.InputLayer):
            tensors = keras.tree.flatten(layer.output)
            found |= {layer.name: tensors[0]} if len(tensors) == 1 else {}
    return found


def _on_tensorflow(model: Any, inputs: Any, name: str, structured: bool, names: list[str]) -> Any:
    from tvm_pulp.frontend.tensorflow_models import compiled, import_tensorflow

    tf = import_tensorflow(name)
    refuse_if(isinstance(inputs, dict), f"{name} is given inputs by name: give a tuple of arrays")

    def call(*given: Any) -> Any:
        how = _for_inference(model)
        return model(list(given), **how) if structured else model(*given, **how)

    known = names if len(names) == len(inputs) else []
    return compiled(tf, call, [np.asarray(a) for a in inputs], name, "Keras", known)
