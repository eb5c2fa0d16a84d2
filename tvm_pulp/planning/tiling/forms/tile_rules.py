"""How layers are cut for the cores: the rule that an operator states as `tile`, for a layer.

A layer without a rule runs whole, in L1 if it fits and in L2 otherwise.
"""

from dataclasses import replace

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.tiles import Box, Part, TileAxis, TileRule, Whole


def tile_axes(layer: Layer) -> tuple[TileAxis, ...]:
    """Axes that may be cut, most favoured first; none where there is no rule."""
    rule = _rule(layer)
    return () if rule is None else rule.axes(_whole(layer))


def tile_part(layer: Layer, box: Box) -> Part:
    """Operands that a part of the result needs; without a rule all of them."""
    rule = _rule(layer)
    if rule is None:
        return Part(tuple(Box.whole(t.spec.shape) for t in layer.inputs), layer.attributes)
    part = rule.part(_whole(layer), box)
    # Rules of other packages may give plain values.
    stated = OPERATORS[layer.operator].stated(part.attributes)
    return part if stated is part.attributes else replace(part, attributes=stated)


def _rule(layer: Layer) -> TileRule | None:
    operator = OPERATORS.get(layer.operator)
    return None if operator is None else operator.tile


def _whole(layer: Layer) -> Whole:
    return Whole(layer.attributes, [t.spec for t in layer.inputs], layer.outputs[0].spec)
