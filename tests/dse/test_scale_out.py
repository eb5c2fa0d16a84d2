"""The same study on several processes: the same table, and a worker that dies costs its own rows only."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dse.needed_packages import needs
from tests.dse.small_models import small_study
from tvm_pulp.dse import grid
from tvm_pulp.dse.frame import SECONDS
from tvm_pulp.errors import UserError

pytestmark = needs("distributed", "scaling out")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers behind a scheduler, as on another machine: only its address is known."""
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as made:
        yield made


def tables(folder: Path, cluster: Any, changes: dict[str, Any]) -> tuple[Any, Any, list[int]]:
    """The study here, and with a worker killed when its first row is done; nothing is shared but models."""
    import distributed

    here = small_study(folder, folder / "here", **changes).run()
    killed: list[int] = []

    def kill(done: int, _total: int, last: object) -> None:
        if last is not None and not killed:
            with distributed.Client(cluster.scheduler_address) as client:
                killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    there = small_study(folder, folder / "there", **changes)
    frame = there.run(scheduler=cluster.scheduler_address, progress=kill)
    return here, frame, killed


def assert_same(one: Any, other: Any) -> None:
    """All figures but how long this machine took."""
    left, right = (frame.drop(columns=list(SECONDS)) for frame in (one, other))
    assert left.equals(right), left.compare(right)


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_else(tmp_path: Path, cluster: Any) -> None:
    """Four rows, one of them a failure; models travel by content, their files are gone by then."""
    changes = {"socs": grid("siracusa", cores=[2, 99]), "targets": ["c"]}
    here, there, killed = tables(tmp_path, cluster, changes)
    assert len(there) == 4 and len(killed) == 2
    assert there.error.notna().tolist() == [False, True, False, True]
    assert_same(here, there)
    # What workers found out is known here: the study is over when it is asked for again, without them.
    told: list[int] = []
    small_study(tmp_path, tmp_path / "there", **changes).run(progress=lambda done, total, last: told.append(done))
    assert told == [4]


@pytest.mark.slow
def test_sixteen_rows_with_and_without_a_killed_worker(tmp_path: Path, cluster: Any) -> None:
    """Two models, four machines, two targets: here, on local processes of its own, and with a worker killed."""
    here, there, killed = tables(tmp_path, cluster, {})
    assert len(here) == 16 and killed
    assert_same(here, there)
    assert_same(here, small_study(tmp_path, tmp_path / "local").run(workers=2))


def test_no_scheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvm_pulp.dse.scale_out._CONNECT_SECONDS", 1)
    with pytest.raises(UserError, match="no Dask scheduler answers there"):
        small_study(tmp_path, tmp_path).run(scheduler="tcp://127.0.0.1:1")


def test_another_compiler_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of workers with other sources would be kept under the wrong name."""
    study = small_study(tmp_path, tmp_path / "cache", targets=["c"])
    monkeypatch.setattr("tvm_pulp.dse.study.compiler_digest", lambda: "another")
    with pytest.raises(UserError, match="install the same version on all machines"):
        study.run()
