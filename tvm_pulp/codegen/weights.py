"""Constant tensors as C arrays in a file of their own."""

from __future__ import annotations

import numpy as np

from tvm_pulp.codegen.c_expression import c_type, float_literal
from tvm_pulp.codegen.comment import safe
from tvm_pulp.tiling.network import Network, Tensor

_ALIGNMENT = 16


def symbol(network: Network, tensor: Tensor) -> str:
    """C name of a constant."""
    return f"tvmgen_{network.name}_{tensor.name}"


def header_file(network: Network) -> str:
    guard = f"TVMGEN_{network.name.upper()}_WEIGHTS_H"
    lines = ["/* Constant tensors of the network. */", f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    for tensor in network.constants():
        lines.append(f"extern {_declaration(network, tensor)}; /* {safe(str(tensor.spec))} */")
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def source_file(network: Network) -> str:
    parts = [f'#include "{network.name}_weights.h"', ""]
    for tensor in network.constants():
        assert tensor.data is not None
        parts.append(f"/* {safe(tensor.name)}: {tensor.spec} */")
        parts.append(f"__attribute__((aligned({_ALIGNMENT}))) {_declaration(network, tensor)} = {{")
        parts += rows(tensor.data)
        parts += ["};", ""]
    return "\n".join(parts)


def _declaration(network: Network, tensor: Tensor) -> str:
    return f"const {c_type(tensor.spec.dtype)} {symbol(network, tensor)}[{max(1, tensor.spec.elements)}]"


def rows(data: np.ndarray) -> list[str]:
    """Initializer text, many values a line."""
    flat = data.reshape(-1)
    if flat.size == 0:
        return ["  0"]
    if np.issubdtype(flat.dtype, np.floating):
        texts = [float_literal(float(v)) for v in flat]
    elif flat.dtype == np.int64:
        texts = [f"INT64_C({v})" for v in flat.tolist()]
    else:
        texts = ["INT32_MIN" if v == -(1 << 31) else str(v) for v in flat.tolist()]
    width = 32 if flat.dtype.itemsize == 1 else 12
    return [f"  {', '.join(texts[i : i + width])}," for i in range(0, len(texts), width)]
