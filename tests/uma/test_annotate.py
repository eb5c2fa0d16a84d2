"""Annotation: which regions patterns and checks give, and why others are none."""

from typing import Any

import pytest

from tests.uma import small_graphs as graphs
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.annotate import annotate
from tvm_pulp.uma.strategy import Refusal


def chain(builder: Any, x: Any) -> list[Any]:
    """dense, lookup, dense."""
    a = builder.emit(graphs.dense(x, 16, 8), "a")
    b = builder.emit(graphs.lookup(a), "b")
    return [builder.emit(graphs.dense(b, 8, 4), "c")]


def found(network: Network, *backends: Any) -> list[tuple[str, str, str]]:
    """Engine, pattern and operators of every region."""
    regions = annotate(network, [(b, None) for b in backends]).regions
    return [(r.engine, r.pattern, f"{r.layer.operator} {r.layer.name}") for r in regions]


def test_regions_of_all_engines_may_overlap() -> None:
    one = graphs.Patterns("one", {"dense": graphs.dense_pattern, "both": graphs.dense_lookup_pattern})
    two = graphs.Patterns("two", {"other": graphs.lookup_dense_pattern})
    assert found(graphs.network(3, 16, chain), one, two) == [
        ("one", "dense", "dense a"),
        ("one", "both", "dense+lookup b"),
        ("one", "dense", "dense c"),
        ("two", "other", "lookup+dense c"),
    ]


def test_engines_that_find_the_same_operators_share_the_region() -> None:
    engines = [graphs.Patterns(name, {"both": graphs.dense_lookup_pattern}) for name in ("one", "two")]
    first, second = annotate(graphs.network(3, 16, chain), [(e, None) for e in engines]).regions
    assert first.layer is second.layer and (first.engine, second.engine) == ("one", "two")


def test_a_region_reads_what_it_does_not_compute() -> None:
    (region,) = annotate(
        graphs.network(3, 16, chain), [(graphs.Patterns("one", {"both": graphs.dense_lookup_pattern}), None)]
    ).regions
    layer = region.layer
    assert [t.kind for t in layer.inputs] == ["input", "constant", "constant", "constant", "constant"]
    assert [t.name for t in layer.outputs] == ["b"] and layer.macs == 3 * 16 * 8
    assert [part.operator for part in layer.parts] == ["dense", "lookup"]


def read_twice(builder: Any, x: Any) -> list[Any]:
    a = builder.emit(graphs.dense(x, 16, 8), "a")
    return [builder.emit(graphs.lookup(a), "b"), builder.emit(graphs.lookup(a, 1), "c")]


def returned_too(builder: Any, x: Any) -> list[Any]:
    a = builder.emit(graphs.dense(x, 16, 8), "a")
    return [a, builder.emit(graphs.lookup(a), "b")]


@pytest.mark.parametrize("body", [read_twice, returned_too])
def test_what_others_read_cannot_be_inside(body: Any) -> None:
    network = graphs.network(3, 16, body)
    annotated = annotate(network, [(graphs.Patterns("one", {"both": graphs.dense_lookup_pattern}), None)])
    assert annotated.regions == ()
    reasons = {layer.name: [r.reason for r in why] for layer, why in annotated.refusals.items()}
    assert reasons["a"] == ["it has no dense"]
    assert reasons["b"] == ["it has no lookup", "dense+lookup: 'a' inside is read elsewhere too"]


def test_a_pattern_may_reach_through_a_view() -> None:
    from tvm import relax

    def body(builder: Any, x: Any) -> list[Any]:
        a = builder.emit(graphs.dense(x, 16, 8), "a")
        return [builder.emit(graphs.lookup(builder.emit(relax.op.reshape(a, (24,)), "flat")), "b")]

    network = graphs.network(3, 16, body)
    assert found(network, graphs.Patterns("one", {"p": graphs.reshaped_pattern})) == [("one", "p", "dense+lookup b")]
    assert found(network, graphs.Patterns("one", {"p": graphs.dense_lookup_pattern})) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (False, Refusal("one", "its dense says no")),
        ("it is too small", Refusal("one", "it is too small")),
        (Refusal("one", "it is odd", "make it even"), Refusal("one", "it is odd", "make it even")),
    ],
)
def test_checks_refuse_with_a_reason(answer: Any, expected: Refusal) -> None:
    network = graphs.network(3, 16, chain)
    backend = graphs.Patterns("one", {"dense": graphs.dense_pattern}, lambda _: answer)
    annotated = annotate(network, [(backend, None)])
    assert not annotated.regions and annotated.refusals[network.layers[0]] == (expected,)


def test_a_check_is_told_what_upstream_tells_it_and_more() -> None:
    told: list[Any] = []
    backend = graphs.Patterns("one", {"both": graphs.dense_lookup_pattern}, lambda match: told.append(match) or True)
    network = graphs.network(3, 16, chain)
    annotate(network, [(backend, "context")])
    (match,) = told
    root = match.matched_expr
    assert root.op.name == "tvm_pulp.qnn.lookup" and match.annotated_expr["root"].same_as(root)
    names = [v.name for v in match.matched_bindings]
    assert names == ["a", "b"] and match.value_to_bound_var[root].name == "b"
    (a, b) = match.matched_bindings
    assert [u.name for u in match.var_usages[a]] == ["b"] and [u.name for u in match.var_usages[b]] == ["c"]
    assert match.context == "context" and match.layer.operator == "dense+lookup"


def test_without_a_check_the_strategy_says_what_is_taken() -> None:
    engine = graphs.Patterns("one", {"dense": graphs.dense_pattern})
    engine._register_pattern("dense", graphs.dense_pattern)
    annotated = annotate(graphs.network(3, 16, chain), [(engine, None)])
    assert annotated.regions == ()
    assert {r.reason for layer in annotated.network.layers[::2] for r in annotated.refusals[layer]} == {
        "it has no forms"
    }
    engine._register_operator_strategy("dense", lambda _layer, _context: [])
    assert len(annotate(graphs.network(3, 16, chain), [(engine, None)]).regions) == 2
