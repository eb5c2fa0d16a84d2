"""Attention from its projections to the projection of its output, head by head on engines that run nothing else.

A round is as many heads as there are engines; heads are added by the cores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import (
    EXACT,
    Box,
    Derived,
    Form,
    Load,
    Local,
    Recipe,
    Rounding,
    Step,
    Store,
    TileAxis,
    pattern_of,
    refuse_if,
)
from uma_backends.ita.attention_parts import attention_of, refusals_of, rules_of
from uma_backends.ita.attention_patterns import attention_pattern
from uma_backends.ita.geometry import GROUP, TILE
from uma_backends.ita.heads import (
    SOFTMAX_UNIT,
    HeadContext,
    HeadSizes,
    HeadWeights,
    Round,
    check_rule,
    is_whole,
    positions_call,
)
from uma_backends.ita.ita_form import ENGINE, flattened
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.requantization import rule_of

_LARGEST = 127


def head_pattern(*, moved: bool, constants: int = 0) -> Any:
    """Heads, moved in front of positions where they are several, and a product with a matrix each.

    Behind one head it may be a dense layer, whose `constants` are so many.
    """
    mixed = attention_pattern(moved="qkv" if moved else "", is_moved_back=False, projects="qkv")
    if not constants:
        return pattern_of("matmul", mixed, None, None, None)
    return pattern_of("dense", pattern_of("relax.reshape", mixed, None), *[None] * constants)


PATTERNS: dict[str, dict[str, Any]] = {
    "head": {"moved": False, "constants": 3},
    "head_with_bias": {"moved": False, "constants": 4},
    "head_with_matrix": {"moved": False},
    "heads": {"moved": True},
}


def head_strategy(region: Layer, context: HeadContext) -> list[Form]:
    """Self-attention with all projections: softmax `ita_partial_max` of 256 levels in groups of 16, sizes in 64s."""
    return [HeadForm(region, head_of(region, context), context)]


@dataclass(frozen=True)
class Head:
    """Numbers of all heads of a region."""

    sizes: HeadSizes
    weights: tuple[HeadWeights, ...]
    rules: tuple[ItaRequantization, ...]
    q: Tensor
    k: Tensor
    rounding: Rounding


def head_of(region: Layer, context: HeadContext) -> Head:
    """The heads of a region; refuses what the engines compute differently."""
    parts, last = attention_of(region), region.parts[-1]
    found = rules_of(region, lambda softmax: _check_softmax(softmax, context), add_bits=32)
    heads, queries, keys, depth, width = parts.sizes
    sources = {name: layer.inputs[0] for name, layer in parts.projections.items()}
    refuse_if(set(sources) != set("qkv"), "a projection of queries, keys or values is missing")
    refuse_if(sources["k"].storage is not sources["v"].storage, "keys and values are projected from different tensors")
    sizes = HeadSizes(keys, sources["k"].spec.shape[-1], depth)
    refuse_if(queries != keys or depth != width or sources["q"].spec.shape[-1] != sizes.e, "its sizes differ")
    refuse_if(
        not is_whole(sizes.s, sizes.e, sizes.p),
        f"it has {sizes.s} positions of {sizes.e} and heads of {sizes.p}: all are multiples of {TILE} on these engines",
    )
    with refusals_of("projection of the output"):
        out = arithmetic_of(last) if last.operator == "dense" else _output_matrices(last, heads)
        refuse_if(out.activation is not None, "it has an activation")
        refuse_if(len(out.weights) != heads * sizes.e, f"it has {len(out.weights) // heads} columns, not {sizes.e}")
    made = found.projections
    rules = (made["q"].rule, made["k"].rule, found.logits, made["v"].rule, found.mix, out.rule)
    reaches = [*(made[name].reach for name in "qk"), 128 * 128 * depth, made["v"].reach, _LARGEST * 128 * keys]
    for rule, reach in zip(rules, [*reaches, out.reach], strict=True):
        check_rule(rule, reach)
    weights = tuple(_weights_of(made, out, index, sizes) for index in range(heads))
    exact = parts.softmax.attributes.get("unit") == SOFTMAX_UNIT
    rounding = EXACT if exact else Rounding(_deviation(found.mix, out, keys))
    return Head(sizes, weights, rules, sources["q"], sources["k"], rounding)


def _check_softmax(softmax: Layer, context: HeadContext) -> None:
    a = softmax.attributes
    refuse_if(
        a["form"] != "ita_partial_max",
        f"its softmax is of the form {a['form']}: these engines take 32 steps of the logits per octave in groups",
    )
    refuse_if(
        (a["levels"], a["group"]) != (256, GROUP),
        f"its softmax has {a['levels']} levels in groups of {a['group']}: the engines' has 256 in groups of {GROUP}",
    )
    refuse_if(
        a.get("unit") != SOFTMAX_UNIT and context.softmax == "exact",
        "its softmax adds 256ths and the engines' 1024ths, which differ where a larger logit comes late",
        f"take the engines' by --target-uma-{ENGINE}-softmax engine",
    )


def _output_matrices(last: Layer, heads: int) -> LinearArithmetic:
    """A product with a constant matrix per head, as one matrix [heads * out][in]."""
    matrix, a = last.inputs[1], last.attributes
    refuse_if(matrix.data is None, "it multiplies by no constant")
    assert matrix.data is not None
    refuse_if(a["zero_point_a"] or a["zero_point_b"], "its operands have zero points")
    refuse_if(matrix.spec.dtype != "int8", f"its weights are {matrix.spec.dtype}")
    shape = (heads, *matrix.spec.shape[-2:])
    values = np.broadcast_to(matrix.data, (1, *shape)).reshape(shape)
    values = values if a["transpose_b"] else values.swapaxes(1, 2)
    found = rule_of(Requant.of(a), last.inputs[2:4])
    refuse_if(found.negated, "its multiplier is negative")
    weights = np.ascontiguousarray(values).reshape(-1, values.shape[-1])
    return LinearArithmetic(weights, np.full(len(weights), found.summand, np.int64), found.rule, found.activation)


def _weights_of(
    made: Mapping[str, LinearArithmetic], out: LinearArithmetic, index: int, sizes: HeadSizes
) -> HeadWeights:
    part = slice(index * sizes.p, (index + 1) * sizes.p)
    columns = slice(index * sizes.e, (index + 1) * sizes.e)
    biases = {name: made[name].bias[part] for name in "qkv"} | {"o": out.bias[columns]}
    q, k, v = (made[name].weights[part] for name in "qkv")
    return HeadWeights(q, k, v, out.weights[columns], biases)


def _deviation(mix: ItaRequantization, out: LinearArithmetic, keys: int) -> int:
    """Steps by which a result may differ where the model's softmax adds 256ths: a probability differs by one at most.

    The two sums differ by less than two of at least 256, and 127 * 256 by them by one at most.
    """
    values = min(255, (min(_LARGEST, keys) * 128 * mix.multiplier >> mix.shift) + 1)
    rows = int(np.abs(out.weights.astype(np.int64)).sum(axis=1).max(initial=0))
    return min(255, (rows * values * out.rule.multiplier >> out.rule.shift) + 1)


@dataclass(frozen=True)
class HeadForm:
    """A round of heads per tile."""

    layer: Layer
    head: Head
    context: HeadContext
    engine: str = ENGINE
    derived: Derived = field(default_factory=Derived)

    @property
    def name(self) -> str:
        count = len(self.head.weights)
        return "a head" if count == 1 else f"heads, {min(count, self.context.engines)} at once"

    @property
    def rounding(self) -> Rounding:
        return self.head.rounding

    @property
    def _has_heads(self) -> bool:
        return len(self.layer.outputs[0].spec.shape) == 4

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1, self.context.engines, limit=self.context.engines),) if self._has_heads else ()

    def bound_cycles(self) -> int:
        rounds = -(-len(self.head.weights) // self.context.engines)
        return rounds * self.head.sizes.cycles(self.context.parameters)

    def recipe(self, box: Box) -> Recipe:
        sizes, context = self.head.sizes, self.context
        first, count = (box.start[1], box.size[1]) if self._has_heads else (0, 1)
        loads, operands, q, k = self._loads(first)
        put = positions_call(sizes, operands, q, k, context.costs.cores)
        out = Local("heads", TensorSpec((count, sizes.s, sizes.e), "int8"))
        others = (self._others, (first - first // context.engines) * sizes.bytes) if count > 1 else None
        command = Round(count, sizes, self.head.rules, operands, others, out)
        job = command.job(count * sizes.macs, context.parameters)
        return Recipe((*loads, put, job, Store(out, self.layer.outputs[0], box)))

    def _loads(self, first: int) -> tuple[list[Step], Local, Local, Local]:
        """Operands of a round's first head with room for q and k, and these."""
        steps: list[Step] = []

        def load(name: str, tensor: Tensor) -> Local:
            steps.append(made := Load.of(tensor, name))
            return made.local

        operands = load("operands", self._constant(f"head{first}", [self.head.weights[first]]))
        q = load("q", flattened(self.head.q))
        k = q if self.head.k.storage is self.head.q.storage else load("k", flattened(self.head.k))
        return steps, operands, q, k

    @property
    def _others(self) -> Tensor:
        """Operands of all heads but the first of each round; nobody reads q and k there."""
        return self._constant("operands", [w for i, w in enumerate(self.head.weights) if i % self.context.engines])

    def _constant(self, name: str, heads: Sequence[HeadWeights]) -> Tensor:
        room = bytes(2 * self.head.sizes.s * self.head.sizes.e)
        data = b"".join(head.operands(room) for head in heads)
        return self.derived.constant(f"{self.layer.name}_{name}", np.frombuffer(data, np.int8))
