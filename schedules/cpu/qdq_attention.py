"""Attention of 8-bit tensors as a call of a CPU's kernels: every logit once, in memory to work in."""

from collections.abc import Mapping

import numpy as np

from schedules.cpu.base import RANGES, CallBuilder, Cpu, KernelCall, Layer, kernel, offer_if, structure
from schedules.cpu.pack_weights import aligned
from tvm_pulp.qnn.qdq_attention import QdqAttentionAttributes, operands

# Rows of the memory to work in are filled up to a multiple, see attention.h.
_FILLED = 8


@kernel("qdq_attention", "attention")
def attention(layer: Layer, _cpu: Cpu) -> KernelCall:
    """Every logit is computed once."""
    attributes, of = QdqAttentionAttributes.of(layer), operands(QdqAttentionAttributes.of(layer), layer.inputs)
    dtypes = {name: tensor.spec.dtype for name, tensor in of.items()}
    bytes_only = [n for n in of if n not in ("mask", "table", "exponential")]
    for name, dtype in (*((n, dtypes[n]) for n in bytes_only), ("the result", layer.outputs[0].spec.dtype)):
        offer_if(dtype in RANGES, f"{name} is {dtype}, not bytes")
    has_tables = dtypes["table"] == "uint8" and dtypes["exponential"] == "int32"
    offer_if(has_tables and dtypes.get("mask", "uint8") in RANGES, "tables or the mask have other types")
    logits = attributes.logit_high - attributes.logit_low + 1
    offer_if(of["table"].spec.shape[-1] == logits, f"the table has not {logits} entries, one for each logit")
    heads, queries, keys, size = attributes.heads, attributes.queries, attributes.key_count, attributes.size
    filled, columns = (aligned(count, _FILLED) for count in (keys, size))
    call = CallBuilder(layer, layer.inputs, tuple(of))
    call.result()
    spaces = {
        "query": (size, "int16"), "keys": (size * filled, "int16"), "values": (keys * columns, "int16"),
        "probability": (filled, "int16"), "logits": (filled, "int32"), "sums": (columns, "int32"),
    }  # fmt: skip
    for name, (count, dtype) in spaces.items():
        call.workspace(name, count, dtype)
    is_rows = attributes.y_layout == "hsd"
    described = {
        "heads": heads, "group": attributes.group, "queries": queries, "keys": keys, "size": size,
        **{name: _place(attributes, name, dtypes) for name in "qkv"},
        "y": _members(0, queries * size if is_rows else size, size if is_rows else heads * size,
                      attributes.zero_point, 0),
        **{name: f"{float(np.float32(attributes[name]))!r}f" for name in ("logit_scale", "gain", "value_scale")},
        **{name: attributes[name] for name in ("logit_low", "logit_high", "probability_high", "low", "high")},
        "mask_heads": 0, "mask_queries": 0,
    }  # fmt: skip
    if "mask" in of:
        mask_heads, mask_queries, _ = of["mask"].spec.shape
        described |= {"mask_heads": mask_queries if mask_heads > 1 else 0, "mask_queries": int(mask_queries > 1)}
    given = [name if name in of else "0" for name in ("q_table", "k_table", "mask")]
    if dtypes.get("mask") == "int8":
        given[2] = "(const uint8_t *)mask"
    return call.made(
        [
            f"  /* {heads} heads, {keys} keys; rows of keys are filled up to {filled}. */",
            *structure("const struct tvm_pulp_attention attention", described),
            *structure("const struct tvm_pulp_attention_space space", {name: name for name in spaces}),
            f"  tvm_pulp_attend(&attention, q, k, v, {', '.join(given)}, table, exponential, {call.y}, &space);",
        ],
        "attention.h",
    )


def _place(attributes: QdqAttentionAttributes, name: str, dtypes: Mapping[str, str]) -> str:
    """The structure of an operand; the second bit of its sign is that of values that were looked up."""
    is_unsigned = int(dtypes[name] == "uint8") + 2 * int(dtypes.get(f"{name}_table") == "uint8")
    places = (attributes[f"{name}_{part}"] for part in ("offset", "head_stride", "stride"))
    return _members(*places, attributes[f"zero_point_{name}"], is_unsigned)


def _members(*values: int) -> str:
    return f"{{{',~'.join(map(str, values))}}}"
