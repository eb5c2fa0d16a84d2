"""The cheapest cover: sums decide, overlapping candidates included; pins hold; priority decides between equals."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.cover import Covers, recorded_cover
from tvm_pulp.planning.tiling.forms.cuts import Cuts
from tvm_pulp.planning.tiling.forms.layer_forms import LayerForms
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import CoreCost, Kernel, Local, Recipe
from tvm_pulp.uma.region import join
from tvm_pulp.uma.strategy import EXACT, TileAxis

COSTS = CostModel(load("siracusa"))

SPEC = TensorSpec((4,), "int8")


@dataclass(frozen=True)
class Fixed:
    """A form that takes given cycles on an engine."""

    engine: str
    rounding = EXACT
    taken: int
    bytes: int = 16
    name: str = "fixed"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0, step=4),)

    def recipe(self, _box: Box) -> Recipe:
        space = Local("space", TensorSpec((self.bytes,), "int8"))
        return Recipe((Kernel("work", {}, (), (space,), cost=CoreCost(self.taken)),))

    def bound_cycles(self) -> int:
        return 1


def chain(count: int) -> list[Layer]:
    tensors = [Tensor(f"t{i}", SPEC, "activation") for i in range(count + 1)]
    return [Layer(f"l{i}", "add", {}, [tensors[i]], [tensors[i + 1]], variables=(i,)) for i in range(count)]


def offer(layer: Layer, *forms: Fixed) -> LayerForms:
    return LayerForms(layer, tuple(Cuts(f, layer, COSTS) for f in forms), (), COSTS)


def region(layers: list[Layer], *forms: Fixed) -> LayerForms:
    return offer(join(layers, [v for layer in layers for v in layer.variables]), *forms)


def problem(operators: list[LayerForms], regions: list[LayerForms], priority: tuple[str, ...] = ()) -> Problem:
    network = Network("net", [entry.layer for entry in operators], [], [])
    return Problem(network, operators, regions, COSTS.soc, COSTS.cores, 4096, 1 << 20, priority=priority)


def cheapest(operators: list[LayerForms], regions: list[LayerForms], pins: dict[str, str] | None = None) -> Decisions:
    covers = Covers(problem(operators, regions), pins or {})
    return covers.cover(covers.cheapest())


def chosen(operators: list[LayerForms], regions: list[LayerForms], pins: dict[str, str] | None = None) -> list[str]:
    return [e.layer.operator + " " + e.layer.name for e in cheapest(operators, regions, pins).layers]


def test_the_least_sum_wins_among_overlapping_regions() -> None:
    a, b, c = layers = chain(3)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    first, second = region([a, b], Fixed("npu", 150)), region([b, c], Fixed("npu", 120))
    assert chosen(operators, [first, second]) == ["add l0", "add+add l2"]
    third = region([a, b, c], Fixed("npu", 210))
    assert chosen(operators, [first, second, third]) == ["add+add+add l2"]


def test_a_region_that_costs_more_loses() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    only = cheapest(operators, [region([a, b], Fixed("npu", 201))])
    assert [e.layer.name for e in only.layers] == ["l0", "l1"]
    # What was not taken is still shown.
    (rival,) = only.layers[1].rivals
    assert (rival.engine, rival.form, rival.cycles) == ("npu", "add+add as one", 201)


def test_the_alternative_of_a_region_is_its_operators_alone() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    (rival,) = cheapest(operators, [region([a, b], Fixed("npu", 150))]).layers[0].rivals
    assert (rival.engine, rival.form, rival.cycles) == ("apart", "add on npu and add on npu", 200)


def test_equal_costs_take_fewer_regions() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    assert chosen(operators, [region([a, b], Fixed("npu", 200))]) == ["add+add l1"]


@pytest.mark.parametrize("priority", [("one", "two"), ("two", "one")])
def test_equal_costs_and_regions_take_the_engine_named_first(priority: tuple[str, str]) -> None:
    a, b, c = layers = chain(3)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    regions = [region([a, b], Fixed("one", 150)), region([b, c], Fixed("two", 150))]
    covers = Covers(problem(operators, regions, priority), {})
    names = [e.layer.operator for e in covers.cover(covers.cheapest()).layers]
    assert names == (["add+add", "add"] if priority[0] == "one" else ["add", "add+add"])


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        ({"l0": "one"}, ["add+add l1"]),
        ({"l1": "one"}, ["add+add l1"]),
        ({"l0": "two"}, ["add l0", "add l1"]),
        ({"l0": "one", "l1": "two"}, ["add l0", "add l1"]),
    ],
)
def test_pins_of_operators_hold_inside_regions(pins: dict[str, str], expected: list[str]) -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("one", 100), Fixed("two", 100)) for layer in layers]
    assert chosen(operators, [region([a, b], Fixed("one", 120))], pins) == expected


def test_a_pin_reaches_the_region_that_several_engines_offer() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("one", 100), Fixed("two", 100)) for layer in layers]
    cover = cheapest(operators, [region([a, b], Fixed("one", 50), Fixed("two", 80))], {"l0": "two"})
    assert cover.engines == {"l0": "two", "l1": "two"}


def test_what_does_not_fit_alone_may_fit_as_one() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("npu", 1, bytes=9000)) for layer in layers]
    assert chosen(operators, [region([a, b], Fixed("npu", 500))]) == ["add+add l1"]
    assert chosen(operators, [region([a, b], Fixed("npu", 500, bytes=9000))]) == ["add l0", "add l1"]


def test_the_whole_network_has_the_last_word() -> None:
    """Regions of one kind go in and out together, and what overlaps with them makes way."""
    layers = chain(4)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    pairs = [region(layers[0:2], Fixed("npu", 150)), region(layers[2:4], Fixed("npu", 250))]
    covers = Covers(problem(operators, [*pairs, region(layers[1:4], Fixed("npu", 400))]), {})
    asked: list[tuple[str, ...]] = []

    def expected(cover: Decisions) -> int | None:
        asked.append(tuple(e.layer.operator for e in cover.layers))
        return {("add", "add+add+add"): 50, ("add+add", "add+add"): None}.get(asked[-1], 100)

    found = covers.fastest(expected)
    assert [e.layer.operator for e in found.layers] == ["add", "add+add+add"]
    assert asked[0] == ("add+add", "add", "add") and ("add+add", "add+add") in asked


def test_long_networks_do_not_try_what_costs_clearly_more() -> None:
    layers = chain(40)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    regions = [region(layers[0:2], Fixed("npu", 203)), region(layers[2:5], Fixed("npu", 600))]
    asked: list[tuple[str, ...]] = []

    def expected(cover: Decisions) -> int:
        asked.append(tuple(e.layer.operator for e in cover.layers if e.layer.parts))
        return 5000 - len(asked)

    Covers(problem(operators, regions), {}).fastest(expected)
    assert asked == [(), ("add+add",)]


def test_a_gain_within_the_error_of_estimates_is_none() -> None:
    a, b = layers = chain(2)
    operators = [offer(layer, Fixed("npu", 100)) for layer in layers]
    covers = Covers(problem(operators, [region([a, b], Fixed("npu", 150))]), {})
    found = covers.fastest(lambda cover: 1000 - 2 * (len(cover.layers) - 1))
    assert len(found.layers) == 1


def test_a_recorded_cover_is_taken_as_it_is() -> None:
    a, b, c = layers = chain(3)
    operators = [offer(layer, Fixed("npu", 1)) for layer in layers]
    regions = [region([a, b], Fixed("npu", 500)), region([b, c], Fixed("npu", 500))]
    names = {"l0": "add", "l2": "add+add"}
    assert [e.layer.operator for e in recorded_cover(problem(operators, regions), names).layers] == ["add", "add+add"]


def test_a_recorded_cover_tells_regions_with_the_same_end_apart() -> None:
    a, b, c = layers = chain(3)
    operators = [offer(layer, Fixed("npu", 1)) for layer in layers]
    regions = [region([a, c], Fixed("npu", 1)), region([b, c], Fixed("npu", 1))]
    for alone, inside in ((a, b), (b, a)):
        cover = recorded_cover(problem(operators, regions), {alone.name: "add", "l2": "add+add"})
        assert [e.layer.name for e in cover.layers] == [alone.name, "l2"]
        assert cover.layers[1].layer.parts == (inside, c)


@pytest.mark.parametrize("seed", range(20))
def test_no_cover_is_cheaper(seed: int) -> None:
    """Against all covers of random chains with random regions of two and three operators."""
    source = np.random.default_rng(seed)
    count = 6
    layers = chain(count)
    cost: dict[tuple[int, int], int] = {}
    for length in (1, 2, 3):
        for start in range(count - length + 1):
            if length == 1 or source.random() < 0.7:
                cost[start, length] = int(source.integers(50, 150)) * length * (10 - length) // 9
    operators = [offer(layers[i], Fixed("npu", cost[i, 1])) for i in range(count)]
    regions = [region(layers[s : s + n], Fixed("npu", c)) for (s, n), c in cost.items() if n > 1]
    sums = []
    for lengths in (p for k in range(2, count + 1) for p in product((1, 2, 3), repeat=k) if sum(p) == count):
        starts = [sum(lengths[:i]) for i in range(len(lengths))]
        pieces = list(zip(starts, lengths, strict=True))
        if all(piece in cost for piece in pieces):
            sums.append(sum(cost[piece] for piece in pieces))
    found = cheapest(operators, regions).layers
    assert sum(e.tiled[0].recipe(Box.whole((4,))).cycles for e in found) == min(sums)
