"""Bytes that may not be written while something is under way."""

import pytest

from tvm_pulp.planning.program.actions import Access, JobAction, TransferAction
from tvm_pulp.planning.program.under_way import Started, UnderWay


@pytest.mark.parametrize(("start", "waits"), [(90, True), (100, True), (129, True), (130, False), (160, False)])
def test_rows_that_fill_a_picture_belong_to_a_job_and_beats_behind_them_do_not(start: int, waits: bool) -> None:
    read = Access("L1", 0, 100, "x", 0, reach=194, fill=30)
    job = JobAction(
        layer=0, tile=0, engine="array", ticket=0, queue=2, words=4, cycles=9,
        descriptor=Access("L1", 500, 16, "page", 0), reads=(read,), writes=(Access("L1", 400, 8, "y", 0),),
    )  # fmt: skip
    outside, inside = Access("z", 0, 8, "z", 0), Access("L1", start, 8, "z", 0)
    load = TransferAction(do="load", layer=1, tile=0, agent=0, ahead=True, reads=(outside,), writes=(inside,))
    under_way = UnderWay()
    under_way.started.append(Started.by(job, job.reads))
    assert bool(list(under_way.clashes(Started.by(load, load.reads)))) is waits
