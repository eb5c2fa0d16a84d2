"""Hidden and visible time of the DMA, from spans of a timeline."""

import numpy as np

from tvm_pulp.sim.iss.library import Span
from tvm_pulp.sim.iss.record_activity import DmaTime, dma_times

ACTIVE, ASLEEP, DMA, ENGINE = 0, 1, 2, 3
CORES = 2


def timeline(*spans: tuple[int, int, int, int]) -> np.ndarray:
    """Spans of (start, end, kind, track)."""
    found = np.zeros(len(spans), np.dtype(Span))
    for index, (start, end, kind, track) in enumerate(spans):
        found[index] = (start, end, kind, track, 0)
    return found


def test_a_transfer_beside_a_core_or_an_engine_is_hidden() -> None:
    spans = timeline((0, 100, DMA, 1), (0, 60, ACTIVE, 1), (50, 100, ENGINE, 0))
    assert dma_times(spans, CORES, [0, 100]) == [DmaTime(100, 0)]


def test_a_transfer_that_everything_waits_for_is_a_stall() -> None:
    spans = timeline(
        (10, 90, DMA, 1), (0, 30, ACTIVE, 0), (0, 20, ACTIVE, 1), (30, 95, ASLEEP, 0), (85, 200, ACTIVE, 1)
    )
    assert dma_times(spans, CORES, [0, 200]) == [DmaTime(80, 55)]


def test_both_directions_count_once_and_the_controller_does_not_hide_them() -> None:
    spans = timeline((0, 50, DMA, 0), (20, 80, DMA, 1), (0, 100, ACTIVE, CORES))
    assert dma_times(spans, CORES, [0, 100]) == [DmaTime(80, 80)]


def test_layers_share_a_transfer_at_their_boundary() -> None:
    spans = timeline((10, 40, DMA, 1), (60, 70, DMA, 1), (0, 20, ACTIVE, 0), (65, 80, ACTIVE, 0))
    assert dma_times(spans, CORES, [0, 30, 65, 80]) == [DmaTime(20, 10), DmaTime(15, 15), DmaTime(5, 0)]


def test_nothing_moves() -> None:
    assert dma_times(timeline(), CORES, [0, 10]) == [DmaTime(0, 0)]
