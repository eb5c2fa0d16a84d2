"""A study in one process: its table, failures as rows, what is remembered, and going on after being killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dse.needed_packages import needs
from tests.dse.small_models import small_study, write_models
from tvm_pulp.dse import Study, grid
from tvm_pulp.dse.compiler_digest import compiler_digest
from tvm_pulp.dse.frame import SECONDS
from tvm_pulp.errors import UserError
from tvm_pulp.uma import registry

pytestmark = needs("pandas", "a study")

ROOT = Path(__file__).resolve().parents[2]
# A process that says when a row is done, and can be killed then.
SCRIPT = """
import sys
from pathlib import Path
from tests.dse.small_models import small_study
study = small_study(Path(sys.argv[1]), Path(sys.argv[2]))
study.run(progress=lambda done, total, last: print(done, flush=True))
"""


@pytest.fixture
def own_engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process of its own does not know the engines that other tests of this one have registered."""
    known = [name for name in registry.names() if type(registry.backend(name)).__module__.startswith("uma_backends")]
    monkeypatch.setattr(registry, "names", lambda: known)
    compiler_digest.cache_clear()
    yield
    compiler_digest.cache_clear()


@pytest.mark.slow
def test_a_killed_study_goes_on(tmp_path: Path, own_engines: None) -> None:
    """Rows that were finished are not made again: their times stay, and only the others are computed."""
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(cache)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        finished = next(int(line) for line in process.stdout if int(line) >= 5)
        process.send_signal(signal.SIGKILL)
    study = small_study(tmp_path, cache)
    told: list[int] = []
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*.row.json")}
    started = time.time_ns()
    frame = study.run(progress=lambda done, total, last: told.append(done))
    assert len(frame) == 16 and told[0] >= finished >= 5 and told[-1] == 16
    # The first call tells what was known; every later one is a row.
    assert len(told) == 17 - told[0]
    assert all(path.stat().st_mtime_ns == before[path] < started for path in before)
    again = small_study(tmp_path, cache).run()
    assert frame.equals(again)  # to the last figure, times included: nothing was computed
    # Two models on four machines for two targets, in order; the same answer on every machine.
    assert list(frame.model) == ["dense32"] * 8 + ["dense64"] * 8
    assert frame.error.isna().all() and (frame.cycles > 0).all() and (frame.estimated_cycles > 0).all()
    for _, group in frame.groupby("model"):
        assert group.outputs.nunique() == 1
    cluster = frame[frame.target == "c"]
    for _, group in cluster.groupby(["model", "cores"]):
        assert group.cycles.nunique() == 1  # another array changes nothing where it is not used
    assert cluster[cluster.cores == 2].cycles.sum() > cluster[cluster.cores == 8].cycles.sum()
    larger, smaller = (frame[frame.neureka_columns == columns].area_mm2.mean() for columns in (6, 4))
    assert larger > smaller and frame.area_source.str.startswith("assumption").all()
    assert {"share_neureka", "energy_uj", "code_bytes", "l1_bytes", "bound_cycles", *SECONDS} <= set(frame.columns)


def test_a_failure_is_a_row(tmp_path: Path) -> None:
    """With its sentence; the others are computed all the same."""
    models = write_models(tmp_path, (32,))
    socs = grid("siracusa", l1=["16k", "256k"], cores=[8, 99])
    frame = Study(models, socs, ["c"], cache=tmp_path / "cache").run()
    assert len(frame) == 4 and frame.l1.tolist() == [16384, 16384, 262144, 262144]
    assert frame.cycles.notna().tolist() == [False, False, True, False]
    messages = frame.error.tolist()
    assert "L1" in messages[0] and "cluster.cores" in messages[1] and "cluster.cores" in messages[3]


def test_cpus_have_instructions_or_milliseconds(tmp_path: Path) -> None:
    """A machine without a model of time has no cycles; its options are axes as others are."""
    options = {"flash": ["64k", "1M"]}
    models, cache = write_models(tmp_path, (64,)), tmp_path / "cache"
    emulated = Study(models, "cortex-m4", ["c"], options, cache=cache).run()
    here = Study(models, "host", ["c"], cache=cache).run()
    assert emulated.cycles.isna().all() and (emulated.instructions > 0).all() and emulated.milliseconds.isna().all()
    assert here.instructions.isna().all() and (here.milliseconds > 0).all()
    assert len({*emulated.outputs, *here.outputs}) == 1


def test_options_are_axes(tmp_path: Path) -> None:
    """Those of an engine only for targets that have it; a study without simulation has no cycles."""
    models = write_models(tmp_path, (32,))
    options = {"neureka.weight_memory": ["none", "sram"], "double_buffer": True}
    study = Study(models, "siracusa", ["c", "uma-neureka"], options, cache=tmp_path / "cache")
    frame = study.run(simulate=False)
    assert frame["neureka.weight_memory"].tolist()[1:] == ["none", "sram"] and frame.isna()["neureka.weight_memory"][0]
    assert frame.cycles.isna().all() and (frame.estimated_cycles > 0).all()
    assert (frame.wmem_bytes > 0).tolist() == [False, False, True]
    # What was compiled is not compiled again, and can be looked at.
    archives = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.tar.gz")}
    assert len(archives) == 3
    assert study.app(2).run().report["cycles"] == study.run().cycles[2]
    assert all(path.stat().st_mtime_ns == made for path, made in archives.items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": []}, "models is empty"),
        ({"compile_options": {"planer": "greedy"}}, "did you mean 'planner'"),
        ({"compile_options": {"soc": "siracusa"}}, "the study's own"),
        ({"compile_options": {"ita.x": 1}}, "no target contains uma-ita"),
        ({"models": ["/nowhere/x.onnx"]}, "cannot read '/nowhere/x.onnx'"),
    ],
)
def test_mistakes_are_told_at_once(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        small_study(tmp_path, tmp_path, **changes).run()


def test_a_damaged_record_is_made_again(tmp_path: Path) -> None:
    study = Study(write_models(tmp_path, (32,)), "siracusa", ["c"], cache=tmp_path / "cache")
    cycles = study.run().cycles[0]
    for path in (tmp_path / "cache").rglob("*.row.json"):
        path.write_bytes(path.read_bytes()[:10])
        os.utime(path)
    assert study.run().cycles[0] == cycles
