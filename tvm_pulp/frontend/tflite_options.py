"""Options of a TFLite operator."""

from __future__ import annotations

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
