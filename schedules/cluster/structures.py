"""Argument structures of the kernels, read from their headers: the C declaration is the only one."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tvm_pulp.soc.kernel_sources import added_kernels, texts_in

# The one that the others build on; it comes first.
_FIRST = "tvm_pulp/kernels.h"
_STRUCT = re.compile(r"struct (tvm_pulp_\w+) \{(.*?)\n\};", re.S)
_NESTED = re.compile(r"struct (tvm_pulp_\w+) (\w+);")


@cache
def _structures(folders: tuple[Path, ...]) -> dict[str, tuple[str, ...]]:
    own = resources.files("c_runtime").joinpath("kernels/include")
    headers = {path: text for folder in (own, *(f / "include" for f in folders)) for path, text in texts_in(folder)}
    text = "".join([headers.pop(_FIRST), *headers.values()])
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
    return _structures(added_kernels())[structure]


def words_of(structure: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Values in the order of the structure's fields; all fields must be given, and no others."""
    fields = _structures(added_kernels())[structure]
    missing, unknown = [f for f in fields if f not in values], [v for v in values if v not in fields]
    if missing or unknown:
        raise TypeError(f"struct {structure}: missing {missing}, unknown {unknown}")
    return tuple(values[f] for f in fields)
