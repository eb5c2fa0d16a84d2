"""Models of frameworks, in memory and as files: which framework one is of, and its program, which becomes ONNX.

A framework is imported only when a model of it is given: models in memory are told apart by the modules of their
classes, files by their names.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_OWNERS = {
    "keras": "keras",
    **dict.fromkeys(("flax", "equinox", "jax", "jaxlib", "functools"), "jax"),
    "tensorflow": "tensorflow",
    "torch": "torch",
}
# Modules, and their functions that make programs: of models in memory by framework, of files by format.
_OF_MODELS = {
    "jax": "stablehlo_program.jax_models:jax_program",
    "keras": "keras_models:keras_program",
    "tensorflow": "tensorflow_models:tensorflow_program",
    "torch": "torch_program:as_program",
}
_OF_FILES = {
    "keras": "keras_models:load_keras",
    "pytorch": "torch_program:load_program",
    "saved_model": "tensorflow_models:load_saved_model",
    "stablehlo": "stablehlo_program.files:load_stablehlo",
}


def framework_of(model: Any) -> str:
    """The framework of a model in memory: that of its class, else JAX for functions and PyTorch for the rest."""
    for base in type(model).__mro__:
        owner = _OWNERS.get(base.__module__.split(".")[0])
        if owner is not None:
            return owner
    return "jax" if callable(model) else "torch"


def as_program(model: Any, example_inputs: Any) -> Any:
    """A model in memory as a program: of `torch.export`, or of StableHLO."""
    return model if hasattr(model, "onnx_model") else _function(_OF_MODELS[framework_of(model)])(model, example_inputs)


def load_program(path: Path, model_format: str) -> Any:
    """The program in a file."""
    return _function(_OF_FILES[model_format])(path)


def _function(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(f"tvm_pulp.frontend.{module}"), name)


def onnx_model(program: Any, shapes: Mapping[str, Sequence[int]]) -> Any:
    """A program as an ONNX model; `shapes` are those the user wants for inputs."""
    if hasattr(program, "onnx_model"):
        return program.onnx_model(shapes)
    from tvm_pulp.frontend import torch_program

    return torch_program.onnx_model(program, shapes)
