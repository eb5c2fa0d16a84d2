"""Costs follow from the description: what a setting says about the machine is what planner and estimate are told."""

import pytest

from tvm_pulp.soc import CostModel, load

BASE = load("siracusa")
COSTS = CostModel(BASE)


def changed(**settings: object) -> CostModel:
    return CostModel(BASE.with_settings({name.replace("__", "."): value for name, value in settings.items()}))


@pytest.mark.parametrize(
    ("size", "line", "outward", "cycles"),
    [
        (0, 64, False, 0),
        (1024, 1024, False, 128),
        (1024, 1024, True, 128 + 4),  # four bursts
        (1024, 16, True, 64 * 3),  # a burst per line
        (30, 10, False, 3 * 2),  # no beat spans two lines
    ],
)
def test_beats_of_a_transfer(size: int, line: int, outward: bool, cycles: int) -> None:
    assert COSTS.move_cycles(size, line, outward=outward) == cycles


def test_the_dma_of_the_description() -> None:
    assert changed(dma__bytes_per_cycle=32).move_cycles(1024, 1024, outward=False) == 32
    assert changed(dma__bytes_per_cycle=4).stream_cycles(1024) == 256
    assert changed(dma__burst_bytes=128).move_cycles(1024, 1024, outward=True) == 128 + 8
    slow = changed(dma__startup=400)
    late = slow.transfer_cycles(64, 64, outward=False) - COSTS.transfer_cycles(64, 64, outward=False)
    assert late == 400 - BASE.dma.startup
    far = changed(dma__l2_read_latency=14)
    assert far.start_cycles(outward=False) == COSTS.start_cycles(outward=False) + 14
    assert far.start_cycles(outward=True) == COSTS.start_cycles(outward=True)
    assert changed(dma__core_queue=5).commands_in_flight == COSTS.commands_in_flight + 3


def test_cores_are_in_the_dmas_way() -> None:
    # More cores and fewer banks make conflicts; none without banks that conflict.
    assert CostModel(BASE, 1).contention < COSTS.contention < changed(cluster__cores=16).contention
    assert changed(memory__l1__banks=8).contention > COSTS.contention
    assert changed(memory__l1__conflicts=False).contention == 0


def test_the_dma_is_in_the_way_of_jobs() -> None:
    """A job that reads 32 bytes in every other cycle meets a transfer's two words in 10 of 16 banks and mostly wins."""
    assert COSTS.port_share("neureka", 16_000, 1000) == 0.5
    assert COSTS.job_contention("neureka", 0.5) == pytest.approx(0.5 * 10 / 16 / 5)
    assert COSTS.transfer_beside_jobs("neureka", 0.5) == pytest.approx(4 * COSTS.job_contention("neureka", 0.5))
    assert COSTS.job_contention("neureka", 0) == 0
    narrow = changed(engines__neureka__access_bytes=8)
    assert narrow.port_share("neureka", 4_000, 1000) == 4 * COSTS.port_share("neureka", 4_000, 1000)
    assert changed(memory__l1__banks=64).job_contention("neureka", 0.5) < COSTS.job_contention("neureka", 0.5)
    assert changed(memory__l1__conflicts=False).job_contention("neureka", 0.5) == 0


def test_jobs_and_kernels_are_in_each_others_way() -> None:
    """A job that always uses its port takes more than twice as long beside eight cores, as was measured."""
    assert 1.2 < COSTS.job_beside_kernels("neureka", 1.0) < 1.8
    assert COSTS.job_beside_kernels("neureka", 0.3) < 0.3 * COSTS.job_beside_kernels("neureka", 1.0)
    assert CostModel(BASE, 1).job_beside_kernels("neureka", 1.0) < COSTS.job_beside_kernels("neureka", 1.0)
    assert 0.1 < COSTS.kernel_beside_jobs("neureka", 1.0) < 0.3
    still = changed(memory__l1__conflicts=False)
    assert still.job_beside_kernels("neureka", 1.0) == still.kernel_beside_jobs("neureka", 1.0) == 0


def test_cores_are_in_each_others_way() -> None:
    assert COSTS.core_slowdown == pytest.approx(1.0)
    assert CostModel(BASE, 1).core_slowdown < 1 < changed(cluster__cores=16).core_slowdown < 1.1


def test_code() -> None:
    assert changed(icache__refill=200).refill_cycles == 200
    halved = changed(icache__shared_sets=32, icache__private_sets=4)
    assert (halved.shared_lines, halved.own_lines) == (COSTS.shared_lines / 2, COSTS.own_lines / 2)
    assert changed(icache__ideal=True).refill_cycles == 0


def test_registers_and_events() -> None:
    assert changed(timing__peripheral=10).submit_cycles(25) == COSTS.submit_cycles(25) + 7 * 26
    assert COSTS.submit_cycles(8) < COSTS.submit_cycles(25)
    assert changed(events__wake=25).barrier_cycles == COSTS.barrier_cycles + 20
    assert changed(timing__apb=33).l3_command_cycles == COSTS.l3_command_cycles + 60


def test_l3_counts_cycles_of_another_clock() -> None:
    bytes_alone = COSTS.l3_cycles(100_000) - COSTS.l3_cycles(0)
    assert bytes_alone == round(100_000 * BASE.memory.l3.read_cycles_per_byte)
    faster = changed(clock__cluster_mhz=2 * BASE.clock.soc_mhz)
    assert faster.l3_cycles(100_000) - faster.l3_cycles(0) == pytest.approx(2 * bytes_alone, abs=2)


def test_queues_of_engines() -> None:
    assert COSTS.job_queue("neureka") == 2
    assert changed(engines__neureka__queue=4).job_queue("neureka") == 4
