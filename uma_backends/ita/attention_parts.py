"""Attention in a region of operators: who is who, and whether the engine's streaming softmax computes exactly that."""

from dataclasses import dataclass, field
from functools import cached_property

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.geometry import GROUP, LONGEST_INNER, TILE, tiles
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.reference import Requantization
from uma_backends.ita.requantization import rule_of, silent_bias
from uma_backends.ita.transposed_values import SWAP, TRANSPOSE

_LARGEST = 255


@dataclass(frozen=True)
class Heads:
    """A tensor of heads: [heads][positions][size] one behind the other, or the heads of a position side by side."""

    tensor: Tensor
    beside: bool


@dataclass(frozen=True)
class Attention:
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

    logits: Requantization
    mix: Requantization
    projections: dict[str, LinearArithmetic] = field(default_factory=dict)


def attention_of(region: Layer) -> Attention:
    """The parts of a region that a pattern of attention matched."""
    made = {part.outputs[0].storage: part for part in region.parts}
    softmax = next(p for p in region.parts if p.operator == "softmax")
    logits = made[softmax.inputs[0].storage]
    mix = next(p for p in region.parts if p.operator == "matmul" and p.inputs[0].storage is softmax.outputs[0].storage)

    def heads(tensor: Tensor) -> Heads:
        maker = made.get(tensor.storage)
        return (
            Heads(maker.inputs[0], True)
            if maker is not None and maker.operator == "transpose"
            else Heads(tensor, False)
        )

    result = region.parts[-1]
    out = Heads(result.outputs[0], result.operator == "transpose")
    q, k, v = heads(logits.inputs[0]), heads(logits.inputs[1]), heads(mix.inputs[1])
    makers = {name: made.get(operand.tensor.storage) for name, operand in (("q", q), ("k", k), ("v", v))}
    projections = {n: m for n, m in makers.items() if m is not None and m.operator == "dense"}
    return Attention(logits, softmax, mix, q, k, v, out, projections)


def rules_of(region: Layer) -> AttentionRules | str:
    """Constants of the engine for a region, or why it is none for its streaming softmax."""
    a = attention_of(region)
    for part in region.parts:
        if part.operator == "transpose":
            transposes = a.transposed and part.outputs[0].storage is a.mix.inputs[1].storage
            if list(part.attributes["axes"]) != (TRANSPOSE if transposes else SWAP):
                return "it moves other axes than heads and positions"
    reason = _softmax_reason(a.softmax) or _shape_reason(a)
    if reason:
        return reason
    rules = []
    for name, product, left in (("logits", a.logits, "int8"), ("result", a.mix, "uint8")):
        if (product.inputs[0].spec.dtype, product.inputs[1].spec.dtype) != (left, "int8"):
            return f"its {name} multiply {product.inputs[0].spec.dtype} by {product.inputs[1].spec.dtype}"
        if product.attributes["zero_point_a"] or product.attributes["zero_point_b"]:
            return f"operands of its {name} have zero points"
        found = rule_of(Requant.of(product.attributes), product.inputs[2:4])
        if isinstance(found, str):
            return f"{name}: {found}"
        if found.summand or found.negated or found.activation is not None:
            return f"its {name} are requantized with a summand before the multiplier, or clipped at zero"
        rules.append(found.rule)
    projections = {}
    for name, projection in a.projections.items():
        made = arithmetic_of(projection)
        if isinstance(made, str) or made.activation is not None:
            return f"projection of {name}: {made if isinstance(made, str) else 'it has an activation'}"
        if name != "v" and a.sizes[3] % TILE and silent_bias(made.rule) is None:
            return f"projection of {name}: no bias makes its padding zero"
        projections[name] = made
    return AttentionRules(rules[0], rules[1], projections)


def _softmax_reason(softmax: Layer) -> str:
    a = softmax.attributes
    if a["form"] in ("ita_max", "ita_partial_max"):
        return (
            "its softmax takes 32 steps of the logits per octave, the engine's takes one: "
            "quantize the logits to steps of ln 2, or it runs on the cores"
        )
    if a["form"] != "octave":
        return f"its softmax is of the form {a['form']}: the engine's halves with every step of the logits"
    if a["largest"] != _LARGEST or a["group"] != GROUP:
        return (
            f"its softmax has {a['largest'] + 1} levels in groups of {a['group']}: the engine's has 256 in groups of 16"
        )
    return ""


def _shape_reason(a: Attention) -> str:
    if len(a.logits.outputs[0].spec.shape) != 4 or a.logits.outputs[0].spec.shape[0] != 1:
        return "it is not one sequence of heads"
    shapes = [t.spec.shape for t in (a.logits.inputs[0], a.logits.inputs[1], a.mix.inputs[1])]
    if len({s[:2] for s in shapes}) != 1:
        return "its queries, keys and values have different heads"
    if not a.logits.attributes["transpose_b"]:
        return "its keys are transposed"
    _, queries, keys, depth, width = a.sizes
    if keys % TILE:
        return f"it has {keys} keys: padding to {TILE} would change the softmax, which has no mask"
    if keys > LONGEST_INNER or max(depth, width) > LONGEST_INNER:
        return f"it has {keys} keys and heads of {max(depth, width)}: both are {LONGEST_INNER} at most"
    if tiles(depth) != tiles(width):
        return f"heads of its keys have {depth} values, those of its values {width}"
    return f"it has {queries} queries for {keys} keys" if tiles(queries) > tiles(keys) else ""
