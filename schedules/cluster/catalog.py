"""Which hand-written kernels apply to a layer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from schedules.cluster import (
    add,
    add_accumulators,
    add_pairs,
    append_quantized,
    attention,
    concat,
    conv2d,
    dense,
    elementwise,
    matmul,
    mean_pool,
    past_attention,
    past_parts,
    past_qdq_attention,
    qdq_attention,
    qdq_mul,
    qdq_norm,
    qdq_rope,
    quantize,
    resize,
    rows,
    space_to_depth,
)
from schedules.cluster import unfolded_conv2d as unfolded
from schedules.cluster.available import available
from schedules.cluster.base import KernelForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cost_model import CostModel

# operator -> (file of the kernel, condition, form): the first that applies.
_TABLE: dict[str, list[tuple[str, Callable[[Layer], bool], type[KernelForm]]]] = {
    "add": [("add_pairs", add_pairs.applies, add_pairs.AddPairsKernel), ("add", add.applies, add.AddKernel)],
    "add_accumulators": [
        ("add_accumulators", add_accumulators.applies, add_accumulators.AddAccumulatorsKernel),
    ],
    "dense": [("dense", dense.applies, dense.DenseKernel), ("dense", dense.applies_int16, dense.DenseKernel)],
    "conv2d": [
        ("dense", dense.applies, dense.DenseKernel),
        ("conv2d", conv2d.applies, conv2d.Conv2dKernel),
        ("depthwise_conv2d", conv2d.applies_depthwise, conv2d.DepthwiseKernel),
        ("dense", dense.applies_int16, dense.DenseKernel),
        ("dense", unfolded.applies_int16, unfolded.UnfoldedConv2d),
    ],
    "matmul": [("rope", matmul.applies_rope, matmul.RopeKernel), ("matmul", matmul.applies, matmul.MatmulKernel)],
    "quantize": [("quantize", quantize.applies, quantize.QuantizeKernel)],
    "quantize_channels_last": [
        ("quantize", quantize.applies_channels_last, quantize.QuantizeChannelsLastKernel),
    ],
    "append_quantized": [
        ("quantize", append_quantized.applies_append, append_quantized.AppendQuantizedKernel),
    ],
    "dequantize": [("dequantize", quantize.applies_dequantize, quantize.DequantizeKernel)],
    "concat": [("copy_rows", concat.applies, concat.ConcatKernel)],
    "qdq_attention": [("qdq_attention", qdq_attention.applies, qdq_attention.QdqAttentionKernel)],
    "past_qdq_attention": [
        ("past_qdq_attention", past_qdq_attention.applies, past_qdq_attention.PastQdqAttentionKernel),
    ],
    "qdq_mul": [("qdq_mul", qdq_mul.applies, qdq_mul.QdqMulKernel)],
    "qdq_norm": [("qdq_norm", qdq_norm.applies, qdq_norm.QdqNormKernel)],
    "qdq_rope": [("qdq_rope", qdq_rope.applies, qdq_rope.QdqRopeKernel)],
    "attention": [("attention", attention.applies, attention.AttentionKernel)],
    "resize": [("resize", resize.applies, resize.ResizeKernel)],
    "past_attention": [("past_attention", past_attention.applies, past_attention.PastAttentionKernel)],
    "past_scores": [("past_scores", past_parts.applies, past_parts.PastScoresKernel)],
    "past_mix": [("past_mix", past_parts.applies, past_parts.PastMixKernel)],
    "past_mean": [("past_mean", past_parts.applies_mean, past_parts.PastMeanKernel)],
    "rotary": [("rotary", past_attention.applies_rotary, past_attention.RotaryKernel)],
    "space_to_depth": [("space_to_depth", space_to_depth.applies, space_to_depth.SpaceToDepthKernel)],
    **elementwise.TABLE,
    **rows.TABLE,
    "requantize": [
        ("add_pairs", add_pairs.applies_requantize, add_pairs.AddPairsKernel),
        *elementwise.TABLE["requantize"],
    ],
    "avg_pool": [*rows.TABLE["avg_pool"], ("mean_pool", mean_pool.applies, mean_pool.MeanPoolKernel)],
}
# What needs less L1 than the form above.
_SMALLER: dict[str, list[tuple[str, Callable[[Layer], bool], type[KernelForm]]]] = {
    "conv2d": [("im2col", unfolded.applies, unfolded.UnfoldedConv2d)],
}


def described(family: str) -> dict[str, list[tuple[str, str]]]:
    """By operator, the kernels of a family that may run it in the order they are asked, and which layers each takes."""
    there = available(family)
    found: dict[str, list[tuple[str, str]]] = {}
    for table in (_TABLE, _SMALLER):
        for operator, entries in table.items():
            known = found.setdefault(operator, [])
            for kernel, applies, _ in entries:
                entry = (kernel, (applies.__doc__ or "").strip().split("\n")[0])
                if kernel in there and entry not in known:
                    known.append(entry)
    return {operator: kernels for operator, kernels in found.items() if kernels}


def forms(layer: Layer, costs: CostModel) -> list[KernelForm]:
    """Forms of a layer, best first; none means that generated C runs it."""
    there = available(costs.soc.software.kernels)
    found: list[KernelForm] = []
    if layer.operator == "conv2d" and layer.attributes["layout"] == "NCHW":
        return found  # what an engine asked for; kernels of products have channels last
    for table in (_TABLE, _SMALLER):
        entries = table.get(layer.operator, [])
        suitable = (form for kernel, applies, form in entries if kernel in there and applies(layer))
        found += [form(layer, costs) for form in islice(suitable, 1)]
    return found
