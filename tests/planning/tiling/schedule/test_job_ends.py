"""Jobs beside other steps: they run until someone needs what they make, one after the other on an engine."""

import pytest

from tests.planning.tiling.schedule.choices import chosen
from tvm_pulp.planning.program.positions import compute_position
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.job_ends import expected_times, last_slots
from tvm_pulp.planning.tiling.schedule.prefetch_leads import prefetch_leads
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, CoreCost, Job, Load, Local, Recipe, Store

SPEC = TensorSpec((16,), "int8")
BOX = Box.whole(SPEC.shape)


def job(x: Tensor, y: Tensor, cycles: int) -> Recipe:
    a, b = Local("a", SPEC), Local("b", SPEC)
    made = Job("npu", None, 4, (a,), (b,), Tensor("w", SPEC, "constant"), cycles=cycles, queue=2)
    return Recipe((Load(x, BOX, a), made, Store(b, y, BOX)))


def call(x: Tensor, y: Tensor, cycles: int, constant_bytes: int = 0) -> Recipe:
    a, b = Local("a", SPEC), Local("b", SPEC)
    spec = TensorSpec((constant_bytes,), "uint8")
    constant, c = Tensor("c", spec, "constant"), Local("c", spec)
    made = Call("f", "struct f", (), (), (a, c), (b,), CoreCost(cycles))
    return Recipe((Load(x, BOX, a), Load(constant, Box.whole(spec.shape), c), made, Store(b, y, BOX)))


def chain() -> list[Choice]:
    """Two jobs of the same input; the cores use the first one's result for a while, then the second one's."""
    x, q, k, s, y = (Tensor(n, SPEC, "activation") for n in ("x", "q", "k", "s", "y"))
    recipes = [job(x, q, 1000), job(x, k, 1000), call(q, s, 300), call(s, s, 300), call(k, y, 300)]
    return [chosen(r) for r in recipes]


def timed(layers: list[Choice]) -> tuple[list[tuple[int, int, object]], list[tuple[Recipe, ...]]]:
    return [(i, *entry) for i, layer in enumerate(layers) for entry in layer.order], [layer.recipes for layer in layers]


def test_steps_begin_when_their_operands_are_there() -> None:
    starts, ends = expected_times(*timed(chain()))
    assert starts == [0, 0, 1000, 1300, 2000] and ends == {0: 1000, 1: 2000}


def test_the_last_step_beside_a_job() -> None:
    assert last_slots(*timed(chain())) == {0: 1, 1: 3}


def test_operands_of_a_job_stay_until_it_is_over() -> None:
    order = StepOrder(chain(), Policy())
    assert order.end_of_use(0) == compute_position(1) and order.end_of_use(1) == compute_position(3)


def test_constants_are_fetched_earlier_where_steps_run_beside_jobs() -> None:
    x, q, k, v, s = (Tensor(n, SPEC, "activation") for n in ("x", "q", "k", "v", "s"))
    recipes = [job(x, q, 1000), job(x, k, 1000), job(x, v, 1000), call(q, s, 300), call(s, s, 300)]
    # 16,000 bytes take 2,300 cycles while cores work in L1.
    layers = [chosen(r) for r in (*recipes, call(s, s, 300, 16000))]
    costs = CostModel(load("siracusa"))
    assert prefetch_leads(layers, 0, costs)[-1] == 4
    assert prefetch_leads(layers, 0, costs, beside_jobs=True)[-1] == 5


def test_who_submits_a_job_waits_for_a_place_in_the_queue() -> None:
    x, *results = (Tensor(n, SPEC, "activation") for n in ("x", "a", "b", "c", "d"))
    layers = [chosen(job(x, y, 1000)) for y in results]
    starts, _ = expected_times(*timed(layers))
    assert starts == [0, 0, 1000, 2000]
    assert last_slots(*timed(layers)) == {0: 1, 1: 2, 2: 3, 3: 3}


def shared(x: Tensor, y: Tensor, *, together: bool) -> Recipe:
    """A job makes the first half of a result, the cores make the second."""
    halves = [Box((start,), (8,)) for start in (0, 8)]
    a, b, c = Local("a", SPEC), *(Local(n, TensorSpec((8,), "int8")) for n in "bc")
    made = Job("npu", None, 4, (a,), (b,), Tensor("w", SPEC, "constant"), cycles=1000, queue=2)
    rest = Call("f", "struct f", (), (), (a,), (c,), CoreCost(300))
    return Recipe((Load(x, BOX, a), made, rest, Store(b, y, halves[0]), Store(c, y, halves[1])), together)


@pytest.mark.parametrize(("together", "begins"), [(True, 0), (False, 1000)])
def test_cores_beside_the_job_of_their_layer_do_not_wait_for_it(together: bool, begins: int) -> None:
    x, y = (Tensor(n, SPEC, "activation") for n in "xy")
    starts, ends = expected_times(*timed([chosen(shared(x, y, together=together))]))
    assert starts == [0, begins] and ends == {0: 1000}
