"""Constant tensors as C arrays in a file of their own."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tvm_pulp.codegen.c_expression import c_type, float_literal
from tvm_pulp.codegen.model_text import header_text, safe
from tvm_pulp.qnn.network import Tensor

_ALIGNMENT = 16
_BYTES_OF_LINE, _NUMBERS_OF_LINE = 32, 12
# Texts of all values of one byte, from the smallest signed one on, filled up with zeros to the longest.
_FIRST_BYTE = -128
_BYTES = np.array([f"{value}, " for value in range(_FIRST_BYTE, 256)], dtype="S6")


@dataclass(frozen=True)
class SharedConstants:
    """Constants of a program that another module of the archive defines, with that module's own."""

    module: str
    names: Mapping[Tensor, Tensor]


def symbol(module: str, tensor: Tensor) -> str:
    """C name of a constant."""
    return f"tvmgen_{module}_{tensor.name}"


def section(level: str) -> str:
    """The macro that places a constant outside plain L2; the runtime has a macro for every level."""
    return "" if level in ("l2", "l3") else f"TVM_PULP_IN_{level.upper()} "


def header_file(module: str, constants: Mapping[Tensor, str], shared: SharedConstants | None = None) -> str:
    """Declarations, and names for constants that another module of the archive defines."""
    lines = ["#include <stdbool.h>"] if any(t.spec.dtype == "bool" for t in constants) else []
    lines += ["#include <stdint.h>", ""]
    lines += [f"extern {_declaration(module, t)}; /* {t.spec}, {level} */" for t, level in constants.items()]
    if shared is not None:
        lines += ["", f'#include "{shared.module}_weights.h"', ""]
        lines += [f"#define {symbol(module, t)} {symbol(shared.module, other)}" for t, other in shared.names.items()]
    return header_text(["/* Constant tensors of the network. */"], f"{module}_WEIGHTS", lines)


def source_file(module: str, constants: Mapping[Tensor, str]) -> str:
    parts = [f'#include "{module}_weights.h"', ""]
    if any(map(section, constants.values())):
        parts += ['#include "tvm_pulp/placement.h"', ""]
    for tensor, level in constants.items():
        assert tensor.data is not None
        place = f"{section(level)}__attribute__((aligned({32 if section(level) else _ALIGNMENT})))"
        parts.append(f"/* {safe(tensor.name)}: {tensor.spec} */")
        parts += [f"{place} {_declaration(module, tensor)} = {{", *rows(tensor.data), "};", ""]
    return "\n".join(parts)


def _declaration(module: str, tensor: Tensor) -> str:
    return f"const {c_type(tensor.spec.dtype)} {symbol(module, tensor)}[{max(1, tensor.spec.elements)}]"


def rows(data: np.ndarray) -> list[str]:
    """Initializer text, many values a line."""
    flat = data.reshape(-1)
    if flat.size == 0:
        return ["  0"]
    if np.issubdtype(flat.dtype, np.floating):
        texts = [float_literal(float(v), str(flat.dtype)) for v in flat]
    elif flat.dtype == np.bool_:
        texts = ["true" if v else "false" for v in flat.tolist()]
    elif flat.dtype == np.uint32:
        texts = [f"{v}u" for v in flat.tolist()]
    elif flat.dtype == np.int64:
        texts = ["INT64_MIN" if v == -(1 << 63) else f"INT64_C({v})" for v in flat.tolist()]
    elif flat.dtype == np.uint64:
        texts = [f"UINT64_C({v})" for v in flat.tolist()]
    elif flat.dtype.itemsize == 1:
        return _rows_of_bytes(flat)
    else:
        texts = ["INT32_MIN" if v == -(1 << 31) else str(v) for v in flat.tolist()]
    width = _BYTES_OF_LINE if flat.dtype.itemsize == 1 else _NUMBERS_OF_LINE
    return [f"  {', '.join(texts[i : i + width])}," for i in range(0, len(texts), width)]


def _rows_of_bytes(flat: np.ndarray) -> list[str]:
    """Those of integers of one byte, which are most of what a network has, as one table of texts."""
    lines = -(-flat.size // _BYTES_OF_LINE)
    texts = np.zeros((lines, _BYTES_OF_LINE + 1), _BYTES.dtype)
    # The last line may be shorter; the column behind each ends it.
    texts[:, -1] = b"\n"
    values = np.zeros(lines * _BYTES_OF_LINE, _BYTES.dtype)
    values[: flat.size] = _BYTES[flat.astype(np.int16) - _FIRST_BYTE]
    texts[:, :-1] = values.reshape(lines, _BYTES_OF_LINE)
    written = texts.tobytes().translate(None, b"\0").decode()
    return [f"  {line[:-1]}" for line in written.splitlines()]
