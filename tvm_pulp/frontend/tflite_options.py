"""Options of a TFLite operator, and lists of numbers in a table of a file."""

import importlib
from typing import Any


def options_of(op: Any, name: str) -> Any:
    """The table `name` that an operator carries."""
    made = getattr(importlib.import_module(f"tflite.{name}"), name)()
    table = op.BuiltinOptions()
    if table is None:
        raise ValueError(f"an operator lacks its {name}")
    made.Init(table.Bytes, table.Pos)
    return made


def indices(table: Any, name: str) -> list[int]:
    """Numbers that a graph or operator lists under a name, for example its inputs."""
    return [int(getattr(table, name)(i)) for i in range(getattr(table, f"{name}Length")())]
