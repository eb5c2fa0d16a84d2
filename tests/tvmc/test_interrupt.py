"""Ctrl-C at every stage: one line, status 130, no half-written file and no child left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tvm_pulp

# Long enough for a machine that is busy with other tests; without the thread that listens, planning takes far longer.
_SECONDS = 10.0


def _hear() -> None:
    """Let a child hear the signal also where tests run in the background, which shells make deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(arguments: list[str], stage: str, folder: Path, later: float = 0.0) -> tuple[int, list[str], float]:
    """Status, lines of stderr behind the stage, and seconds since the signal, which the stage's line brings about."""
    command = [sys.executable, "-m", "tvm_pulp.tvmc.main", *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True, preexec_fn=_hear
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if stage in line:
                break
        else:
            pytest.fail(f"no stage {stage}")
        time.sleep(later)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        rest = process.stderr.read().splitlines()
        status = process.wait()
    seconds = time.monotonic() - started
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    return status, rest, seconds


QUICK = [("loading", 0.5), ("planning", 1.0)]
SLOW = [("loading", 0.1), ("importing", 0.0), ("planning", 0.0)]


@pytest.mark.parametrize(("stage", "later"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)])
def test_compile(stage: str, later: float, tmp_path: Path) -> None:
    arguments = ["compile", "zoo:mobilenetv1", "--target=uma-neureka", "--l1=48k", "-o", "net.tar"]
    status, rest, seconds = interrupted(arguments, stage, tmp_path, later)
    assert status == 130 and rest[-1] == "tvmc compile: interrupted", rest
    assert all(line.startswith("tvmc compile: ") for line in rest)
    assert seconds < _SECONDS
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.1, 5.0])
def test_run(later: float, tmp_path: Path) -> None:
    """While the program is built, and in the simulator, which is C."""
    tvm_pulp.compile("zoo:autoencoder", "uma-neureka", planner="greedy").save(tmp_path / "net.tar")
    arguments = ["run", "net.tar", "--repeat", "100000", "--report", "report.json"]
    status, rest, seconds = interrupted(arguments, "building and running", tmp_path, later)
    assert status == 130 and rest == ["tvmc run: interrupted"], rest
    assert seconds < _SECONDS
    assert [path.name for path in tmp_path.iterdir()] == ["net.tar"]


@pytest.mark.parametrize("end", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_another_signal_that_ends(end: signal.Signals, tmp_path: Path) -> None:
    """A file on its way and a temporary folder go, as with Ctrl-C."""
    code = (
        "import sys, time, os\n"
        "from tvm_pulp.output_files import output_file\n"
        "from tvm_pulp.temporary import TemporaryFolder\n"
        "from tvm_pulp.tvmc.interrupt import interruptible\n"
        "with interruptible('stopped', 'ended'), TemporaryFolder(), output_file('report') as stream:\n"
        "    stream.write(b'half')\n"
        f"    os.kill(os.getpid(), {int(end)})\n"
        "    time.sleep(60)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (143, "ended\n")
    assert list(tmp_path.iterdir()) == []


def test_inside_of_code_made_of_a_text() -> None:
    """Python would end by the signal then, as if nobody had caught the exception."""
    code = (
        "from tvm_pulp.tvmc.interrupt import interruptible\n"
        "with interruptible('stopped'):\n"
        "    exec('import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=_hear)
    assert (done.returncode, done.stderr) == (130, "stopped\n")
