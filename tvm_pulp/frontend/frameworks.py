"""Models of frameworks, in memory and as files: which framework one is of, and its program, which becomes ONNX.

A framework is imported only when a model of it is given: models in memory are told apart by the modules of their
classes, files by their names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_OWNERS = {
    "keras": "keras",
    **dict.fromkeys(("flax", "equinox", "jax", "jaxlib", "functools"), "jax"),
    "tensorflow": "tensorflow",
    "torch": "torch",
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
    if hasattr(model, "onnx_model"):
        return model
    framework = framework_of(model)
    if framework == "jax":
        from tvm_pulp.frontend.stablehlo_program.jax_models import jax_program

        return jax_program(model, example_inputs)
    if framework == "keras":
        from tvm_pulp.frontend.keras_models import keras_program

        return keras_program(model, example_inputs)
    if framework == "tensorflow":
        from tvm_pulp.frontend.tensorflow_models import tensorflow_program

        return tensorflow_program(model, example_inputs)
    from tvm_pulp.frontend import torch_program

    return torch_program.as_program(model, example_inputs)


def load_program(path: Path, model_format: str) -> Any:
    """The program in a file."""
    if model_format == "stablehlo":
        from tvm_pulp.frontend.stablehlo_program.files import load_stablehlo

        return load_stablehlo(path)
    if model_format == "keras":
        from tvm_pulp.frontend.keras_models import load_keras

        return load_keras(path)
    if model_format == "saved_model":
        from tvm_pulp.frontend.tensorflow_models import load_saved_model

        return load_saved_model(path)
    from tvm_pulp.frontend import torch_program

    return torch_program.load_program(path)


def onnx_model(program: Any, shapes: Mapping[str, Sequence[int]]) -> Any:
    """A program as an ONNX model; `shapes` are those the user wants for inputs."""
    if hasattr(program, "onnx_model"):
        return program.onnx_model(shapes)
    from tvm_pulp.frontend import torch_program

    return torch_program.onnx_model(program, shapes)
