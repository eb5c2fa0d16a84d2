"""The solver on small problems whose best answer is known, and on networks: deterministic, in time, with a gap."""

import json
from dataclasses import replace

import tvm_pulp
from tests.planning.tiling.single_layers import make_layer
from tvm_pulp.planning.search.solver.candidates import Candidate
from tvm_pulp.planning.search.solver.layer_cost import LayerCost, Stream
from tvm_pulp.planning.search.solver.problem import Solution, SolverProblem
from tvm_pulp.planning.search.solver.solve import solve
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load

TIME = 0.1
COSTS = CostModel(load("siracusa"))


def chain(count: int) -> Network:
    """Layers in a row; only names and tensors matter."""
    model = make_layer("transpose", {"axes": [1, 0]}, TensorSpec((32, 32), "int8"))
    tensors = [Tensor(f"t{i}", TensorSpec((32, 32), "int8"), "activation") for i in range(count + 1)]
    tensors[0].kind, tensors[-1].kind = "input", "output"
    layers = [
        Layer(f"layer{i}", "transpose", {"axes": [0]}, [tensors[i]], [tensors[i + 1]], model.function)
        for i in range(count)
    ]
    return Network("net", layers, tensors[:1], tensors[-1:])


def candidate(number: int, compute: int, constants: int = 0, *, tile: int = 256, fits: bool = True) -> Candidate:
    """A way to run a layer: its streams take `tile` bytes each and 128 cycles for the tensor."""
    stream = Stream(tile, 128, 64, 64, fits)
    cost = LayerCost(
        slots=1,
        compute=compute,
        own=0,
        constants=constants,
        constant_cycles=constants // 8,
        constant_stream=0,
        inputs=(stream,),
        outputs=(stream,),
        large_bytes=constants,
        largest_bytes=constants,
        small_bytes=0,
    )
    return Candidate(number, "cluster", (number,), False, cost)


def problem(options: list[list[Candidate]], l1_bytes: int) -> SolverProblem:
    return SolverProblem(chain(len(options)), options, [l1_bytes] * len(options), overlap=True, costs=COSTS)


def solved(given: SolverProblem, hint: Solution | None = None) -> Solution:
    found = solve(given, hint, TIME)
    assert found is not None and found.status == "optimal"
    return found


def test_the_fastest_candidate_is_chosen_where_it_fits() -> None:
    slow_and_small, fast_and_large = candidate(0, 900, 64), candidate(1, 500, 3000)
    for room, expected in ((8192, 1), (2048, 0)):
        found = solved(problem([[slow_and_small, fast_and_large]], room))
        assert found.candidates == (expected,)


def test_activations_stay_in_l1_where_there_is_room() -> None:
    """A tensor takes 1024 bytes: with 2 KiB the tiles fit and the tensors between layers do not."""
    options = [[candidate(0, 500)] for _ in range(3)]
    kept = solved(problem(options, 8192))
    assert sorted(t.name for t in kept.resident) == ["t0", "t1", "t2"]
    tight = solved(problem(options, 1040))
    assert not tight.resident
    assert tight.objective > kept.objective


def test_a_candidate_whose_tiles_are_no_parts_of_the_tensor_keeps_nothing() -> None:
    """It would be a little faster alone, but its neighbours would have to go through L2."""
    scattered = candidate(1, 490, fits=False)
    middle = [candidate(0, 500), scattered]
    found = solved(problem([[candidate(0, 500)], middle, [candidate(0, 500)]], 8192))
    assert found.candidates == (0, 0, 0)


def test_constants_are_fetched_ahead_where_there_is_room() -> None:
    """2048 bytes of constants take 256 cycles, which the layer before hides."""
    options = [[candidate(0, 500)], [candidate(0, 500, 2048)]]
    found = solved(problem(options, 8192))
    assert found.ahead == (0, 1)
    serial = solved(replace(problem(options, 8192), overlap=False))
    assert serial.ahead == (0, 0) and serial.objective - found.objective >= 250


def test_constants_go_to_l3_only_as_far_as_needed() -> None:
    options = [[candidate(0, 9000, 4096)] for _ in range(4)]
    found = solved(replace(problem(options, 65536), l2_bytes=3 * 4096))
    # Two stay; of the two that come from L3 one is in use or the next arrives: one place each.
    assert sum(found.in_l3) >= 2
    enough = solved(replace(problem(options, 65536), l2_bytes=4 * 4096))
    assert sum(enough.in_l3) == 0


def test_equal_blocks_share_their_decisions() -> None:
    options = [[candidate(0, 900, 64), candidate(1, 500, 3000)] for _ in range(6)]
    found = solved(replace(problem(options, 16384), same_as={2: 0, 3: 1, 4: 0, 5: 1}))
    assert found.candidates[:2] == found.candidates[2:4] == found.candidates[4:]


def test_a_hint_does_not_change_the_answer() -> None:
    options = [[candidate(0, 900, 64), candidate(1, 500, 3000)] for _ in range(4)]
    free = solved(problem(options, 4096))
    hint = Solution((0, 0, 0, 0), {}, (0, 0, 0, 0), (False,) * 4)
    assert solved(problem(options, 4096), hint).objective == free.objective


def test_corrections_count() -> None:
    options = [[candidate(0, 500), candidate(1, 600)]]
    assert solved(problem(options, 8192)).candidates == (0,)
    corrected = replace(problem(options, 8192), corrections={(0, 0): 200})
    assert solved(corrected).candidates == (1,)


def test_reading_from_l2_costs_a_turnaround() -> None:
    """One layer that keeps nothing: 64 cycles of its first tile, those of turning around, 64 of its last result."""
    found = solved(problem([[candidate(0, 500)]], 1040))
    assert not found.resident and found.objective == 500 + 64 + COSTS.turnaround_cycles + 64


def test_constants_are_fetched_at_most_four_layers_ahead() -> None:
    """16,000 bytes take 2000 cycles; each layer before hides what it takes itself."""
    options = [*([candidate(0, 300)] for _ in range(7)), [candidate(0, 300, 16000)]]
    found = solved(problem(options, 65536))
    assert found.ahead[-1] == 4


def test_two_transfers_are_issued_in_a_layer() -> None:
    """Layer 0 could hide the constants of all others, but with queues of one a third would hold its core up."""
    options = [[candidate(0, 5000)], *([candidate(0, 100, 2048)] for _ in range(3))]
    short = load("siracusa").with_settings({"dma.core_queue": 1, "dma.global_queue": 1})
    found = solved(replace(problem(options, 65536), costs=CostModel(short)))
    assert sum(index - ahead == 0 for index, ahead in enumerate(found.ahead) if index) == 2


def test_less_movement_decides_between_equally_fast_plans() -> None:
    """Keeping a tensor whose 200 cycles of loading are hidden is worth 200 / 8 / 16 cycles: more than one, not two."""
    for slower, kept in ((0, True), (1, True), (2, False)):
        network = chain(3)
        network.layers[2].inputs.append(network.inputs[0])
        hidden = [Stream(256, 200, 0, 0, fits) for fits in (False, True)]
        options = [[quick(30)], [quick(30)], [quick(300, hidden[0]), quick(300 + slower, hidden[1])]]
        found = solved(SolverProblem(network, options, [65536] * 3, overlap=True, costs=COSTS))
        assert (found.candidates[2] == 1) == kept, f"{slower} cycles slower"


def quick(compute: int, *more: Stream) -> Candidate:
    """A layer whose streams take no time to speak of."""
    stream = Stream(256, 1, 0, 0, True)
    cost = replace(candidate(0, compute).cost, inputs=(stream, *more), outputs=(stream,))
    return Candidate(0, "cluster", (0,), False, cost)


def test_pieces_from_l3_arrive_while_their_layer_works() -> None:
    """There is a place for one piece ahead: the first layer hides a quarter, the second waits for the others."""
    cost = replace(candidate(0, 1000, 4096).cost, largest_bytes=1024)
    options = [[candidate(0, 5000)], [Candidate(0, "cluster", (0,), False, cost)]]
    found = solved(replace(problem(options, 65536), l2_bytes=3000))
    assert found.in_l3 == (False, True)
    assert found.cycles[1] == COSTS.l3_command_cycles + COSTS.l3_cycles(3072) > 1000 + 64


def test_a_network_reports_its_planner() -> None:
    """Status, objective, bound and gap are in the archive; seconds are not, so that it stays the same."""
    plan = json.loads(tvm_pulp.compile("zoo:dscnn", "uma-neureka").files["plan.json"])
    planner = plan["planner"]
    assert planner["name"] == "solver" and planner["status"] in ("optimal", "feasible")
    assert 0 <= planner["bound_cycles"] <= planner["objective_cycles"] and 0 <= planner["gap"] < 0.05
    assert planner["deterministic_time"] > 0 and "seconds" not in planner
    greedy = json.loads(tvm_pulp.compile("zoo:dscnn", "uma-neureka", planner="greedy").files["plan.json"])
    assert greedy["planner"]["name"] == "greedy" and greedy["planner"]["gap"] is None
    assert not greedy["resident"] and not any(layer["overlap"] or layer["lead"] for layer in greedy["layers"])
