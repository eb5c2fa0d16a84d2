"""Attention in a region of operators: who is who, and whether the engine's streaming softmax computes exactly that."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Refused, refuse_if
from uma_backends.ita.geometry import GROUP, LONGEST_INNER, SWAP, TILE, TRANSPOSE, tiles
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.requantization import rule_of, silent_bias

_LEVELS = 256


@dataclass(frozen=True)
class Heads:
    """A tensor of heads: [heads][positions][size] one behind the other, or the heads of a position side by side."""

    tensor: Tensor
    beside: bool


@dataclass(frozen=True)
class AttentionParts:
    """Operators of a region by their part in it."""

    logits: Layer
    softmax: Layer
    mix: Layer
    q: Heads
    k: Heads
    v: Heads
    out: Heads
    # Projections of queries, keys and values by the name of their result, where they are inside.
    projections: dict[str, Layer] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Heads, queries, keys, size of a head's keys and of its values."""
        _, heads, queries, depth = self.logits.inputs[0].spec.shape
        _, _, *last = self.mix.inputs[1].spec.shape
        width, keys = last if self.transposed else last[::-1]
        return heads, queries, keys, depth, width

    @property
    def transposed(self) -> bool:
        """Tell if values are [heads][size][positions] before the product: moved so inside, or given so."""
        return bool(self.mix.attributes["transpose_b"])


@dataclass(frozen=True)
class AttentionRules:
    """The engine's constants: requantization of logits and results, the arithmetic of a projection inside."""

    logits: ItaRequantization
    mix: ItaRequantization
    projections: dict[str, LinearArithmetic] = field(default_factory=dict)


def attention_of(region: Layer) -> AttentionParts:
    """The parts of a region that a pattern of attention matched."""
    made = {part.outputs[0].storage: part for part in region.parts}
    softmax = next(p for p in region.parts if p.operator == "softmax")
    logits = made[softmax.inputs[0].storage]
    mix = next(p for p in region.parts if p.operator == "matmul" and p.inputs[0].storage is softmax.outputs[0].storage)

    def heads(tensor: Tensor) -> Heads:
        maker = made.get(tensor.storage)
        is_moved = maker is not None and maker.operator == "transpose"
        return Heads(maker.inputs[0], True) if maker is not None and is_moved else Heads(tensor, False)

    result = region.parts[-1]
    out = Heads(result.outputs[0], result.operator == "transpose")
    q, k, v = heads(logits.inputs[0]), heads(logits.inputs[1]), heads(mix.inputs[1])
    makers = {name: made.get(operand.tensor.storage) for name, operand in (("q", q), ("k", k), ("v", v))}
    projections = {n: m for n, m in makers.items() if m is not None and m.operator == "dense"}
    return AttentionParts(logits, softmax, mix, q, k, v, out, projections)


def rules_of(region: Layer, check: Callable[[Layer], None] | None = None, add_bits: int = 8) -> AttentionRules:
    """Constants of the engine for a region; refuses one that is none for its streaming softmax, or a `check` of that.

    `add_bits` have summands of logits and results behind the shift.
    """
    a = attention_of(region)
    for part in (p for p in region.parts if p.operator == "transpose"):
        transposes = a.transposed and part.outputs[0].storage is a.mix.inputs[1].storage
        axes = TRANSPOSE if transposes else SWAP
        refuse_if(list(part.attributes["axes"]) != axes, "it moves other axes than heads and positions")
    (check or _check_softmax)(a.softmax)
    _check_shapes(a)
    rules = []
    for name, product, left in (("logits", a.logits, "int8"), ("result", a.mix, "uint8")):
        types = tuple(t.spec.dtype for t in product.inputs[:2])
        refuse_if(types != (left, "int8"), f"its {name} multiply {types[0]} by {types[1]}")
        has_zero_points = product.attributes["zero_point_a"] or product.attributes["zero_point_b"]
        refuse_if(has_zero_points, f"operands of its {name} have zero points")
        with refusals_of(name):
            found = rule_of(Requant.of(product.attributes), product.inputs[2:4], add_bits)
        refuse_if(
            found.summand or found.negated or found.activation is not None,
            f"its {name} are requantized with a summand before the multiplier, or clipped at zero",
        )
        rules.append(found.rule)
    projections = {}
    for name, projection in a.projections.items():
        with refusals_of(f"projection of {name}"):
            made = projections[name] = arithmetic_of(projection)
            refuse_if(made.activation is not None, "it has an activation")
            leaves_padding = name != "v" and a.sizes[3] % TILE and silent_bias(made.rule) is None
            refuse_if(leaves_padding, "no bias makes its padding zero")
    return AttentionRules(rules[0], rules[1], projections)


@contextmanager
def refusals_of(part: str) -> Iterator[None]:
    """Reasons name the part of a layer that is refused."""
    try:
        yield
    except Refused as refused:
        raise Refused(f"{part}: {refused}") from None


def _check_softmax(softmax: Layer) -> None:
    a = softmax.attributes
    refuse_if(
        a["form"] in ("ita_max", "ita_partial_max"),
        "its softmax takes 32 steps of the logits per octave, the engine's takes one: "
        "quantize the logits to steps of ln 2, or it runs on the cores",
    )
    other = f"its softmax is of the form {a['form']}: the engine's halves with every step of the logits"
    refuse_if(a["form"] != "octave", other)
    levels, group = a["largest"] + 1, a["group"]
    refuse_if(
        (levels, group) != (_LEVELS, GROUP),
        f"its softmax has {levels} levels in groups of {group}: the engine's has {_LEVELS} in groups of {GROUP}",
    )


def _check_shapes(a: AttentionParts) -> None:
    logits = a.logits.outputs[0].spec.shape
    refuse_if(len(logits) != 4 or logits[0] != 1, "it is not one sequence of heads")
    shapes = [t.spec.shape for t in (a.logits.inputs[0], a.logits.inputs[1], a.mix.inputs[1])]
    refuse_if(len({s[:2] for s in shapes}) != 1, "its queries, keys and values have different heads")
    refuse_if(not a.logits.attributes["transpose_b"], "its keys are transposed")
    _, queries, keys, depth, width = a.sizes
    refuse_if(keys % TILE, f"it has {keys} keys: padding to {TILE} would change the softmax, which has no mask")
    refuse_if(
        max(keys, depth, width) > LONGEST_INNER,
        f"it has {keys} keys and heads of {max(depth, width)}: both are {LONGEST_INNER} at most",
    )
    differ = f"heads of its keys have {depth} values, those of its values {width}"
    refuse_if(tiles(depth) != tiles(width), differ)
    refuse_if(tiles(queries) > tiles(keys), f"it has {queries} queries for {keys} keys")
