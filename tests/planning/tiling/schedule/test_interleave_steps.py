"""Steps of neighbouring layers between each other: what may pass what, and what it is good for."""

from itertools import pairwise

import pytest

from tests.planning.tiling.schedule.choices import chosen
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.interleave_steps import can_interleave, interleave_steps
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, CoreCost, Job, Load, Local, Recipe, Store

ROWS = 32


def tensor(name: str) -> Tensor:
    return Tensor(name, TensorSpec((ROWS, 4), "int8"), "activation")


def tile(x: Tensor, y: Tensor, read: tuple[int, int], written: tuple[int, int], *, cycles: int = 100) -> Recipe:
    """A job on some rows whose result the cores finish."""
    boxes = [Box((first, 0), (end - first, 4)) for first, end in (read, written)]
    source, raw, result = (
        Local(n, TensorSpec(b.size, "int8")) for n, b in zip("xry", (*boxes, boxes[1]), strict=False)
    )
    job = Job("npu", None, 4, (source,), (raw,), cycles=cycles, queue=2)
    finish = Call("finish", "finish", (), (), (raw,), (result,), CoreCost(cycles))
    return Recipe((Load(x, boxes[0], source), job, finish, Store(result, y, boxes[1])))


def halves(x: Tensor, y: Tensor, halo: int = 0, first: int = 16) -> Choice:
    reads = ((0, first + halo), (max(0, first - halo), ROWS))
    return chosen(*(tile(x, y, r, w) for r, w in zip(reads, ((0, first), (first, ROWS)), strict=True)), two_copies=True)


def names(layers: list[Choice]) -> list[str]:
    kind = {Job: "job", Call: "call"}
    return [f"{layer}.{tile} {kind[type(step)]}" for layer, tile, step in interleave_steps(layers)]  # type: ignore[index]


def test_the_next_layer_begins_with_what_is_there() -> None:
    a, b, c = tensor("a"), tensor("b"), tensor("c")
    found = names([halves(a, b), halves(b, c)])
    assert found[:4] == ["0.0 job", "0.1 job", "0.0 call", "1.0 job"]
    assert found.index("1.0 job") < found.index("0.1 call") < found.index("1.1 job")


def test_a_layer_that_stands_apart_begins_when_all_before_it_are_over() -> None:
    a, b, c, d = tensor("a"), tensor("b"), tensor("c"), tensor("d")
    layers = [halves(a, b), halves(b, c), halves(c, d)]
    order = [layer for layer, _, _ in interleave_steps(layers, frozenset({1}))]
    assert order[:4] == [0] * 4 and order[4:] != sorted(order[4:])


def test_what_goes_by_l2_is_not_there_at_once() -> None:
    """The cores finish the other half while the first one leaves L1 and comes back."""
    a, b, c = tensor("a"), tensor("b"), tensor("c")
    layers = [halves(a, b), halves(b, c)]
    kinds = [(layer, tile, type(step)) for layer, tile, step in interleave_steps(layers, resident={})]
    assert kinds.index((0, 1, Call)) < kinds.index((1, 0, Job))
    kinds = [(layer, tile, type(step)) for layer, tile, step in interleave_steps(layers, resident={b: frozenset({1})})]
    assert kinds.index((0, 1, Call)) > kinds.index((1, 0, Job))


def test_not_with_rows_that_are_not_there() -> None:
    a, b, c = tensor("a"), tensor("b"), tensor("c")
    found = names([halves(a, b), halves(b, c, halo=1)])
    assert found.index("1.0 job") > found.index("0.1 call")
    found = names([halves(a, b, first=20), halves(b, c, halo=1)])
    assert found.index("1.0 job") < found.index("0.1 call")


def test_nobody_overwrites_what_is_still_read() -> None:
    a, b, c = tensor("a"), tensor("b"), tensor("c")
    found = names([halves(a, b), chosen(tile(c, a, (0, ROWS), (0, ROWS)))])
    assert found[-2:] == ["1.0 job", "1.0 call"]


def test_cores_do_something_else_while_a_job_runs() -> None:
    a, b, c, d = tensor("a"), tensor("b"), tensor("c"), tensor("d")
    source, result = Local("x", c.spec), Local("y", c.spec)
    whole = Box.whole(c.spec.shape)
    work = Call("work", "work", (), (), (source,), (result,), CoreCost(50))
    other = chosen(Recipe((Load(c, whole, source), work, Store(result, d, whole))))
    layers = [chosen(tile(a, b, (0, ROWS), (0, ROWS))), other]
    assert names(layers) == ["0.0 job", "1.0 call", "0.0 call"]
    order = StepOrder(layers, Policy(interleave=True))
    assert order.slots(0, 0) == [0, 2] and order.slots(1, 0) == [1]
    assert StepOrder(layers, Policy()).slots(0, 0) == [0, 1]


def test_a_job_waits_for_another_in_the_queue_of_their_engine() -> None:
    """Nobody has to wait for a job before the engine gets the next one that reads its result."""
    a, b, c, d = tensor("a"), tensor("b"), tensor("c"), tensor("d")
    whole = Box.whole(a.spec.shape)

    def job(x: Tensor, y: Tensor) -> Choice:
        source, result = Local("x", x.spec), Local("y", y.spec)
        made = Job("npu", None, 4, (source,), (result,), cycles=100, queue=2)
        return chosen(Recipe((Load(x, whole, source), made, Store(result, y, whole))))

    source, result = Local("x", d.spec), Local("y", d.spec)
    work = Call("work", "work", (), (), (source,), (result,), CoreCost(50))
    other = chosen(Recipe((Load(d, whole, source), work, Store(result, tensor("e"), whole))))
    assert names([job(a, b), job(b, c), other]) == ["0.0 job", "1.0 job", "2.0 call"]
    assert names([job(a, b), other, job(b, c)]) == ["0.0 job", "1.0 call", "2.0 job"]


def test_a_job_goes_before_what_the_cores_can_begin_at_the_same_time() -> None:
    """Behind the first job there is a place in the queue and something for the cores: the engine gets its job first."""
    a, b, c = tensor("a"), tensor("b"), tensor("c")
    thirds = ((0, 10), (10, 20), (20, ROWS))

    def part(x: Tensor, y: Tensor, rows: tuple[int, int], kind: type) -> Recipe:
        box = Box((rows[0], 0), (rows[1] - rows[0], 4))
        source, result = Local("x", TensorSpec(box.size, "int8")), Local("y", TensorSpec(box.size, "int8"))
        job = Job("npu", None, 4, (source,), (result,), cycles=100, queue=2)
        work = Call("work", "work", (), (), (source,), (result,), CoreCost(100))
        return Recipe((Load(x, box, source), job if kind is Job else work, Store(result, y, box)))

    made = chosen(*(part(a, b, rows, Job) for rows in thirds))
    used = chosen(*(part(b, c, rows, Call) for rows in thirds))
    assert names([made, used]) == ["0.0 job", "0.1 job", "0.2 job", "1.0 call", "1.1 call", "1.2 call"]


def test_every_step_once_and_layers_begin_in_order() -> None:
    made = [tensor(str(n)) for n in range(7)]
    layers = [halves(x, y, n % 2, 16 + n) for n, (x, y) in enumerate(pairwise(made))]
    steps = interleave_steps(layers)
    for index, layer in enumerate(layers):
        assert [(t, s) for i, t, s in steps if i == index] == layer.order
    first = [next(n for n, s in enumerate(steps) if s[0] == index) for index in range(len(layers))]
    assert first == sorted(first)


def test_only_jobs_that_cores_finish_are_worth_it() -> None:
    a, b = tensor("a"), tensor("b")
    assert can_interleave([halves(a, b)])
    jobs_alone = Recipe(tuple(s for s in tile(a, b, (0, ROWS), (0, ROWS)).steps if not isinstance(s, Call)))
    assert not can_interleave([chosen(jobs_alone)])


@pytest.mark.parametrize(
    ("together", "first", "last"), [(True, "0.0 call", "1.0 call"), (False, "1.0 call", "0.0 call")]
)
def test_cores_that_share_a_layer_with_a_job_begin_at_once(together: bool, first: str, last: str) -> None:
    """They read what the job reads; where they need its result, they end what another engine begins before."""
    x, y, z = tensor("x"), tensor("y"), tensor("z")
    box, parts = Box.whole((ROWS, 4)), [Box((start, 0), (ROWS // 2, 4)) for start in (0, ROWS // 2)]
    a, source, raw, made = (Local(n, TensorSpec(box.size, "int8")) for n in ("a", "source", "raw", "made"))
    b, c = (Local(n, TensorSpec(parts[0].size, "int8")) for n in "bc")
    job, other = (
        Job(engine, None, 4, (read,), (result,), cycles=cycles, queue=2)
        for engine, read, result, cycles in (("npu", a, b, 1000), ("other", source, raw, 100))
    )
    mine = Call("mine", "mine", (), (), (a,), (c,), CoreCost(100))
    both = Recipe((Load(x, box, a), job, mine, Store(b, y, parts[0]), Store(c, y, parts[1])), together)
    finish = Call("finish", "finish", (), (), (raw,), (made,), CoreCost(10))
    after = Recipe((Load(x, box, source), other, finish, Store(made, z, box)))
    assert names([chosen(both, two_copies=True), chosen(after, two_copies=True)]) == ["0.0 job", "1.0 job", first, last]
