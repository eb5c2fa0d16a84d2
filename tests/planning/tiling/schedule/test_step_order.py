"""The order of compute steps: the cores finish a tile while the accelerator works on the next; jobs run on."""

from tests.planning.tiling.schedule.choices import chosen
from tvm_pulp.planning.program.positions import compute_position
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder, step_order
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.recipe import Call, CoreCost, Job, Local, Recipe

SPEC = TensorSpec((16,), "int8")


def recipe() -> Recipe:
    """A job whose result the cores finish."""
    x, raw, y = Local("x", SPEC), Local("raw", SPEC), Local("y", SPEC)
    weights = Tensor("w", SPEC, "constant")
    return Recipe((Job("npu", None, 4, (x,), (raw,), weights), Call("finish", "finish", (), (), (raw,), (y,))))


def kinds(order: StepOrder) -> list[tuple[int, str]]:
    return [(step.tile, "job" if isinstance(step.step, Job) else "call") for step in order.all]


def test_overlapping_tiles_interleave() -> None:
    order = StepOrder([chosen(recipe(), recipe(), two_copies=True)], Policy())
    assert kinds(order) == [(0, "job"), (1, "job"), (0, "call"), (1, "call")]
    assert order.slots(0, 0) == [0, 2] and order.slots(0, 1) == [1, 3]


def test_an_order_is_made_once_for_schedules_that_differ_in_leads() -> None:
    layers = [chosen(recipe(), recipe(), two_copies=True) for _ in range(2)]
    first = step_order(layers, Policy(interleave=True, leads={0: 1}))
    assert step_order(layers, Policy(interleave=True, leads={0: 2}), first) is first
    kept = {Tensor("kept", SPEC, "activation"): frozenset({1})}
    for other in (Policy(), Policy(interleave=True, apart=frozenset({1})), Policy(interleave=True, resident=kept)):
        made = step_order(layers, other, first)
        assert made is not first and kinds(made) == kinds(step_order(layers, other))
    assert step_order([*layers[:1], chosen(recipe(), two_copies=True)], Policy(interleave=True), first) is not first
    # Without layers between each other, what stays in L1 says nothing about the order either.
    plain = step_order(layers, Policy())
    assert step_order(layers, Policy(resident=kept), plain) is plain


def test_the_next_kernel() -> None:
    order = StepOrder([chosen(recipe(), recipe(), two_copies=True)], Policy())
    # Two jobs, then two kernels; behind the last one there is none.
    assert [order.next_kernel(slot) for slot in range(4)] == [compute_position(slot) for slot in (2, 2, 2, 3)]


def test_others_follow_each_other() -> None:
    order = StepOrder([chosen(recipe(), recipe())], Policy())
    assert kinds(order) == [(0, "job"), (0, "call"), (1, "job"), (1, "call")]


def test_uses_of_a_buffer() -> None:
    made = recipe()
    order = StepOrder([chosen(made)], Policy())
    job, call = made.steps
    assert isinstance(job, Job) and isinstance(call, Call)
    assert order.span(0, 0, job.reads[0]) == (0, 0)
    assert order.span(0, 0, job.writes[0]) == (0, 1)
    assert order.span(0, 0, call.writes[0]) == (1, 1)
    # What no step touches belongs to the first.
    assert order.span(0, 0, Local("other", SPEC)) == (0, 0)


def test_a_job_needs_its_operands_until_the_next_step_has_begun() -> None:
    made = chosen(recipe())
    assert StepOrder([made], Policy()).end_of_use(0) == compute_position(1)
    assert StepOrder([made], Policy(overlap=False)).end_of_use(0) == compute_position(0)
    assert StepOrder([made], Policy()).end_of_use(1) == compute_position(1)
    alone = chosen(recipe(), exclusive=True)
    assert StepOrder([alone], Policy()).end_of_use(0) == compute_position(0)


def test_operands_give_way_beside_a_queued_job_but_had_expect_use() -> None:
    """Another job stands behind it, and the cores go on behind that."""
    x, y, weights = Local("x", SPEC), Local("y", SPEC), Tensor("w", SPEC, "constant")
    jobs = [Job("npu", None, 4, (x,), (Local(f"y{n}", SPEC),), weights, cycles=100, queue=2) for n in range(2)]
    calls = [Call("work", "work", (), (), (), (y,), CoreCost(60)) for _ in range(3)]
    order = StepOrder([chosen(Recipe((step,))) for step in (*jobs, *calls)], Policy())
    assert order.end_of_use(0) == compute_position(1)
    # The second call begins at cycle 60, the job ends at 100.
    (_, first), (_, second) = (next(iter(order.lives(layer, 0))) for layer in range(2))
    assert first.expected == compute_position(3)
    assert order.end_of_use(1) == second.expected == compute_position(4)
