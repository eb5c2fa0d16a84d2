"""Keras 3 models: by the way of the backend that computes them."""

from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if


def keras_program(model: Any, example_inputs: Any) -> Any:
    """A model as a program for inputs like these, by default for one sample of the shapes it declares."""
    import keras

    backend = keras.backend.backend()
    name = getattr(model, "name", type(model).__name__)
    refuse_if(
        not isinstance(model, keras.Layer),
        f"a {type(model).__name__} of Keras is no model: give a keras.Model or a layer",
    )
    inputs = _examples(model, name) if example_inputs is None else example_inputs
    if not model.built:
        raise UserError(f"Keras model '{name}' has no weights yet: call it once, or model.build(shape)")
    if backend == "torch":
        from tvm_pulp.frontend import torch_program

        return torch_program.as_program(model, _as_tuple(inputs))
    if backend == "jax":
        return _on_jax(model, _as_tuple(inputs), name)
    raise UserError(f"Keras computes '{name}' with its backend '{backend}': choose KERAS_BACKEND=jax or torch")


def _as_tuple(inputs: Any) -> Any:
    return inputs if isinstance(inputs, (tuple, list, dict)) else (inputs,)


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


def _on_jax(model: Any, inputs: Any, name: str) -> Any:
    from tvm_pulp.frontend.stablehlo_program.program import lowered

    variables = (model.trainable_variables, model.non_trainable_variables)
    structured = getattr(model, "inputs", None) is not None and len(inputs) > 1

    def call(held: Any, *given: Any, **named: Any) -> Any:
        arguments = [list(given)] if structured else list(given)
        return model.stateless_call(*held, *arguments, **named, training=False)[0]

    def path_of(path: Any) -> str:
        return str(variables[path[0].idx][path[1].idx].path)

    values = tuple([v.value for v in group] for group in variables)
    made = lowered(call, values, inputs, f"Keras model '{name}'", "Keras", path_of)
    names = [t.name for t in getattr(model, "inputs", None) or []]
    return replace(made, inputs=names) if len(names) == len(made.inputs) else made
