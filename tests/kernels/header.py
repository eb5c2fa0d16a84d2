"""Argument structures of the kernels, read from the public headers."""

import ctypes
import functools
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "c_runtime/kernels/include/tvm_pulp"
HEADERS = (
    "kernels.h", "attention_kernels.h", "decoder_kernels.h", "dense_kernels.h", "movement_kernels.h", "pair_kernels.h",
    "qdq_kernels.h", "tile_kernels.h",
)  # fmt: skip

_STRUCT = re.compile(r"^struct (tvm_pulp_\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*((?:const )?(?:struct )?\w+) (\*?)(\w+(?:, \*?\w+)*);", re.MULTILINE)


@functools.cache
def structures(pointer: type) -> dict[str, type[ctypes.Structure]]:
    """Every structure by name, with `pointer` in the place of pointers (c_uint32 for the cluster)."""
    found: dict[str, type[ctypes.Structure]] = {}
    written = "".join((FOLDER / name).read_text(encoding="utf-8") for name in HEADERS)
    text = re.sub(r"/\*.*?\*/", "", written, flags=re.DOTALL)
    for name, body in _STRUCT.findall(text):
        fields: list[tuple[str, type]] = []
        for kind, star, names in _FIELD.findall(body):
            if star:
                made = pointer
            elif kind.startswith("struct "):
                made = found[kind.removeprefix("struct ")]
            else:
                made = {"uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32}[kind]
            fields += [(field.lstrip("*"), made) for field in names.split(", ")]
        assert len(fields) == body.count(";") + body.count(","), f"a field of {name} was not understood"
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found
