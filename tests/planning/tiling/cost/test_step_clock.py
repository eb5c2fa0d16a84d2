"""The clock of cores and engines: order, queues and results."""

from tvm_pulp.planning.tiling.cost.step_clock import StepClock


def test_cores_and_engines_work_beside_each_other() -> None:
    clock = StepClock()
    assert clock.submit("npu", 100, ("y",)) == 100
    assert clock.run(30, ("z",)) == 30 == clock.now
    assert clock.ready(("y", "z", "somebody else's")) == 100 == clock.over()
    clock.wait(clock.ready(("y",)))
    assert clock.run(5) == 105 == clock.over()


def test_an_engine_works_in_order_and_waits_for_operands() -> None:
    clock = StepClock(10)
    assert [clock.submit("npu", 100), clock.submit("npu", 50), clock.submit("dsp", 50, after=80)] == [110, 160, 130]
    assert (clock.free_at("npu"), clock.free_at("dsp"), clock.free_at("another")) == (160, 130, 0)
    assert clock.next_end() == 110


def test_a_queue_has_room_when_its_oldest_job_is_over() -> None:
    clock = StepClock()
    rooms = []
    for _ in range(4):
        rooms.append(clock.room_at("npu", 2))
        clock.wait(rooms[-1])
        clock.submit("npu", 100)
    assert rooms == [0, 0, 100, 200]


def test_a_result_is_there_when_its_last_part_is() -> None:
    clock = StepClock()
    clock.submit("npu", 100, ("y",))
    clock.run(10, ("y",))
    assert clock.ready(("y",)) == 100
