"""The result of every frontend: a Relax module and the names the user knows."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.qnn.quantization import Quantization


@dataclass(frozen=True)
class SourceNode:
    """A node of the model file, for explanations."""

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    # Evaluated while importing.
    constant: bool = False
    unsupported: bool = False


def identifier(name: str) -> str:
    """A node's name as an identifier, which its layer has; `main` is the function's own name."""
    base = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:48].rstrip("_") or "value"
    return f"v{base}" if base[0].isdigit() or base == "main" else base


class UnsupportedOperators(UserError):
    """Operators without a conversion; carries all nodes of the model."""

    def __init__(self, message: str, nodes: Sequence[SourceNode]) -> None:
        super().__init__(message)
        self.nodes = tuple(nodes)


@dataclass(frozen=True)
class Imported:
    """A model as imported. `main` of the module takes `inputs` in order and returns a tuple of `outputs`."""

    module: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    # "pulp", "tflite" or "float": whose arithmetic the numbers follow.
    dialect: str
    # Inputs whose type was inferred rather than stated, with the option that states it.
    inferred_inputs: tuple[str, ...] = ()
    # Nodes of the file; empty where the format has no names for them.
    nodes: tuple[SourceNode, ...] = ()
    # What the integers of an end stand for, by ("input" or "output", name); of those that `--io` made integer.
    quantization: dict[tuple[str, str], Quantization] = field(default_factory=dict)


def output_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of outputs as a file lists them, made unique where it repeats one."""
    made: list[str] = []
    for name in names:
        new, number = name, 0
        while new in made or (number and new in names):
            number += 1
            new = f"{name}_{number}"
        made.append(new)
    return tuple(made)


@dataclass(frozen=True)
class ImportOptions:
    """Statements that the user may make about a model file."""

    model_format: str | None = None
    input_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    input_types: dict[str, str] = field(default_factory=dict)
    # Arrays in the order of the file.
    sample_inputs: Sequence[tuple[str, np.ndarray]] = ()
    # "int8": products of recurrent layers that the model leaves in float are sums of integers.
    recurrent: str | None = None


def refuse_unknown_inputs(option: str, names: Iterable[str], known: Collection[str], what: str = "model") -> None:
    """Raise where an option names inputs that a model or graph does not have."""
    for name in names:
        refuse_if(name not in known, f"{option}: the {what} has no input '{name}'; its inputs are {', '.join(known)}")
