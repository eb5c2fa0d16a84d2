"""Products of a loop that was written out: those with one operand are one, those with parts of an input leave it.

A framework that keeps a matrix per gate multiplies by each of them in every step; one product with all of them side by
side costs less, and what does not depend on the step before is multiplied for all steps at once:

    h W, h V            ->  parts of h [W V]
    x[0] W, x[1] W, ..  ->  parts of x W
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, become, closure, constant

Weights = tuple[bytes, ...]


def merge_products(outputs: Sequence[StablehloNode]) -> None:
    """Only matrices that several products share are looked at: no other layer is written more than once."""
    products = [n for n in closure(outputs) if _is_product(n)]
    count = Counter(map(_weights, products))
    beside: dict[StablehloNode, list[StablehloNode]] = defaultdict(list)
    for node in products:
        if count[_weights(node)] > 1:
            beside[node.operands[0]].append(node)
    held: dict[tuple[Weights, ...], tuple[StablehloNode, ...]] = {}
    over: dict[tuple[StablehloNode, Weights], list[StablehloNode]] = defaultdict(list)
    for x, group in beside.items():
        joined = group[0] if len(group) == 1 else _joined(x, group, held)
        source = _whole(x)
        if source is not None:
            over[source, _weights(joined)].append(joined)
    for (source, _), group in over.items():
        if len(group) > 1:
            _hoist(source, group)


def _is_product(node: StablehloNode) -> bool:
    """Of the last axis with a matrix of floats."""
    if node.op != "dot_general" or node.operands[0].array is not None or not node.is_float:
        return False
    a, (x, weight) = node.attributes, node.operands[:2]
    return (
        weight.array is not None
        and weight.rank == 2
        and not a["lhs_batching_dimensions"]
        and list(a["rhs_contracting_dimensions"]) == [0]
        and list(a["lhs_contracting_dimensions"]) == [x.rank - 1]
    )


def _weights(node: StablehloNode) -> Weights:
    return tuple(np.asarray(o.array).tobytes() for o in node.operands[1:])


def _joined(
    x: StablehloNode, group: Sequence[StablehloNode], held: dict[tuple[Weights, ...], tuple[StablehloNode, ...]]
) -> StablehloNode:
    """One product with all matrices; the products become its parts."""
    key = tuple(map(_weights, group))
    if key not in held:
        matrices = [np.asarray(n.operands[1].array) for n in group]
        biases = [np.asarray(n.operands[2].array) if len(n.operands) > 2 else np.zeros(n.shape[-1]) for n in group]
        paths = zip(*(n.operands[1].label.split("/") for n in group), strict=False)
        shared = [names[0] for names in paths if len(set(names)) == 1]
        both = np.concatenate(matrices, 1), np.concatenate(biases).astype(matrices[0].dtype)
        held[key] = constant(both[0], "/".join(shared)), constant(both[1])
    weights = held[key]
    shape = (*group[0].shape[:-1], weights[0].shape[1])
    made = StablehloNode("dot_general", (x, *weights), shape, group[0].dtype, group[0].attributes, group[0].label)
    first = 0
    for node in group:
        last = first + node.shape[-1]
        become(node, "slice", [made], **_part(made, {made.rank - 1: (first, last)}))
        first = last
    return made


def _part(node: StablehloNode, ranges: dict[int, tuple[int, int]]) -> dict[str, list[int]]:
    chosen = [ranges.get(a, (0, size)) for a, size in enumerate(node.shape)]
    starts, limits = ([c[end] for c in chosen] for end in (0, 1))
    return {"start_indices": starts, "limit_indices": limits, "strides": [1] * node.rank}


def _whole(x: StablehloNode) -> StablehloNode | None:
    """The tensor that a step's input is cut from, whole along its last axis."""
    part = x.operands[0] if x.op == "reshape" else x
    if not part.rank or not x.rank:
        return None
    if part.op != "slice" or part.shape[-1] != x.shape[-1] or any(s != 1 for s in part.attributes["strides"]):
        return None
    source = part.operands[0]
    return source if part.shape[-1] == source.shape[-1] and source.array is None else None


def _hoist(source: StablehloNode, group: Sequence[StablehloNode]) -> None:
    first = group[0]
    shape = (*source.shape[:-1], first.shape[-1])
    a = {**first.attributes, "lhs_contracting_dimensions": [source.rank - 1]}
    made = StablehloNode("dot_general", (source, *first.operands[1:]), shape, first.dtype, a, first.label)
    for node in group:
        x = node.operands[0]
        cut = (x.operands[0] if x.op == "reshape" else x).attributes
        ranges = {d: (cut["start_indices"][d], cut["limit_indices"][d]) for d in range(source.rank - 1)}
        sizes = (*(b - a for a, b in ranges.values()), shape[-1])
        part = StablehloNode("slice", (made,), sizes, node.dtype, _part(made, ranges), node.label)
        become(node, "reshape", [part])
