"""Argument structures of the kernels, read from their headers: the C declaration is the only one."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

_HEADERS = ("kernels.h", "decoder_kernels.h", "movement_kernels.h", "pair_kernels.h", "qdq_kernels.h")
_STRUCT = re.compile(r"struct (tvm_pulp_\w+) \{(.*?)\n\};", re.S)
_NESTED = re.compile(r"struct (tvm_pulp_\w+) (\w+);")


@cache
def _structures() -> dict[str, tuple[str, ...]]:
    folder = resources.files("c_runtime").joinpath("kernels/include/tvm_pulp")
    text = "".join(folder.joinpath(name).read_text() for name in _HEADERS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found: dict[str, tuple[str, ...]] = {}
    for name, body in _STRUCT.findall(text):
        fields: list[str] = []
        for declaration in (d.strip() for d in body.split(";") if d.strip()):
            nested = _NESTED.match(declaration + ";")
            if nested:
                fields += [f"{nested[2]}.{inner}" for inner in found[nested[1]]]
            else:
                fields += [declared.split("*")[-1].split()[-1] for declared in declaration.split(",")]
        found[name] = tuple(fields)
    return found


def fields_of(structure: str) -> tuple[str, ...]:
    """Names of a structure's words, those of nested structures with a dot."""
    return _structures()[structure]


def words_of(structure: str, values: dict[str, Any]) -> tuple[Any, ...]:
    """Values in the order of the structure's fields; all fields must be given, and no others."""
    fields = _structures()[structure]
    missing, unknown = [f for f in fields if f not in values], [v for v in values if v not in fields]
    if missing or unknown:
        raise TypeError(f"struct {structure}: missing {missing}, unknown {unknown}")
    return tuple(values[f] for f in fields)
