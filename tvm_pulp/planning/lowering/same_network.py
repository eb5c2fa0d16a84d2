"""Comparison of two networks that may compute the same with the same names: a plan for one then holds for the other."""

from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Network, Tensor


def same_network(one: Network, other: Network) -> bool:
    """Layers may come in another order; everything else is equal."""
    mine, theirs = ({layer.name: layer for layer in network.layers} for network in (one, other))
    ends = zip((*one.inputs, *one.outputs), (*other.inputs, *other.outputs), strict=True)
    return (
        mine.keys() == theirs.keys()
        and all(_same_tensor(a, b) for a, b in ends)
        and all(_same_layer(layer, theirs[name]) for name, layer in mine.items())
    )


def _same_layer(one: Layer, other: Layer) -> bool:
    def facts(layer: Layer) -> tuple[Any, ...]:
        sizes = (len(layer.inputs), len(layer.outputs), len(layer.workspaces), len(layer.parts))
        return layer.name, layer.operator, layer.attributes, layer.macs, layer.parallel, sizes

    return (
        facts(one) == facts(other)
        and (one.function is other.function or (one.function is not None and one.function.same_as(other.function)))
        and all(_same_tensor(a, b) for a, b in zip(one.operands, other.operands, strict=True))
        and all(_same_layer(a, b) for a, b in zip(one.parts, other.parts, strict=True))
    )


def _same_tensor(one: Tensor, other: Tensor) -> bool:
    if (one.name, one.spec, one.kind, one.source) != (other.name, other.spec, other.kind, other.source):
        return False
    if one.view_of is not None and other.view_of is not None:
        return one.offset == other.offset and _same_tensor(one.view_of, other.view_of)
    if (one.view_of is None) != (other.view_of is None) or (one.data is None) != (other.data is None):
        return False
    return one.data is None or other.data is None or np.array_equal(one.data, other.data, equal_nan=True)
