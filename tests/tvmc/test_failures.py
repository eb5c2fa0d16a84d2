"""What a machine refuses a process: one sentence, status 2, nothing left behind; pipes that nobody reads are quiet."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.tvmc.command_line import check_refused, tvmc

_SLOW = pytest.mark.slow
TVMC = [sys.executable, "-m", "tvm_pulp.tvmc.main"]


def run(*arguments: str, **more: object) -> "subprocess.CompletedProcess[str]":
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*TVMC, *arguments], stderr=subprocess.PIPE, text=True, check=False, **more
    )  # type: ignore[call-overload]
    return done


def check_sentence(done: "subprocess.CompletedProcess[str]", words: str, status: int = 2) -> None:
    assert done.returncode == status, done.stderr
    (line,) = done.stderr.splitlines()
    assert words in line and line.startswith("tvmc "), line


@pytest.mark.parametrize(
    "arguments",
    [("compile", "--help"), *(pytest.param(a, marks=_SLOW) for a in (("zoo",), ()))],
)
def test_a_full_standard_output(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        check_sentence(run(*arguments, stdout=full), "cannot write to standard output: No space left on device")


def test_nobody_hears_messages() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*TVMC, "compile", "none.onnx", "-o", "none.tar"], stderr=full, check=False)
    assert done.returncode == 2


def test_a_reader_that_has_enough() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run("zoo", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", *(pytest.param(c, marks=_SLOW) for c in (">&-", "2>&-"))])
def test_closed_streams(closed: str) -> None:
    done = subprocess.run(f"'{sys.executable}' -m tvm_pulp.tvmc.main zoo {closed}", shell=True, check=False)
    assert done.returncode == 0


def test_a_standard_output_of_few_characters() -> None:
    code = "from tvm_pulp.tvmc.standard_streams import prepare_streams as p\np()\nprint('2 µJ ≤ 3 × \\udc80')"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "2 uJ <= 3 x ?\n"


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


@pytest.mark.parametrize(
    ("kind", "most", "words"),
    [
        (resource.RLIMIT_NOFILE, 10, "10 open files are allowed, and 64 are needed: allow them with `ulimit -n"),
        (resource.RLIMIT_AS, 300 << 20, "300 MiB of addresses are allowed"),
    ],
)
def test_limits_that_are_too_small(kind: int, most: int, words: str) -> None:
    check_sentence(run("zoo", preexec_fn=limited(kind, most)), words)


@_SLOW
@pytest.mark.parametrize("megabytes", [450, 520, 600])
def test_too_little_memory_for_a_compiler(tmp_path: Path, megabytes: int) -> None:
    limit = limited(resource.RLIMIT_AS, megabytes << 20)
    done = run("compile", "-q", "zoo:dscnn", "-o", "net.tar", cwd=tmp_path, preexec_fn=limit)
    assert done.returncode == 2 and "ulimit -v" in done.stderr.splitlines()[-1], done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_threads() -> None:
    code = (
        "import threading\n"
        'def refuse(self):\n    raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = refuse\n"
        "from tvm_pulp.tvmc.main import main\n"
        "import sys\nsys.argv = ['tvmc', 'zoo']\nsys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    check_sentence(done, "Resource temporarily unavailable; allow more processes with `ulimit -u`")


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"cd '{tmp_path}/gone' && rmdir ../gone && exec '{sys.executable}' -m tvm_pulp.tvmc.main zoo"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    check_sentence(done, "the working directory does not exist any more")


LONG = "n" * 300
NAMES = {
    "model": (["compile", f"{LONG}.onnx", "-o", "net.tar"], "File name too long"),
    "output": (["compile", "zoo:dscnn", "-o", LONG], "-o: "),
    "archive": (["run", LONG], "File name too long"),
    "inputs": (["run", "net.tar", "-i", LONG], ""),
    "folder": (["plan", "zoo:dscnn", "-o", LONG], "File name too long"),
    "report": (["compare", LONG, LONG], "File name too long"),
    "module": (["compile", "zoo:dscnn", "--module-name", "m" * 5000, "-o", "net.tar"], "5000 characters"),
    "study": (["sweep", LONG, "-o", "rows.csv"], ""),
    "package": (["uma", "create", "engine", "-o", LONG], "File name too long"),
    "dumps": (["compile", "zoo:dscnn", "-o", "net.tar", "--dump-code=c", "--dump-dir", LONG], "File name too long"),
}


@pytest.mark.parametrize("case", [pytest.param(c, marks=_SLOW) if c == "study" else c for c in NAMES])
def test_long_names(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = NAMES[case]
    check_refused(tvmc(capsys, *arguments), [words], arguments[0])
    assert list(tmp_path.iterdir()) == []


def test_one_file_for_two_things(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("x.npz", x=np.zeros(3))
    Path("link.npz").symlink_to("x.npz")
    before = Path("x.npz").read_bytes()
    for arguments, words in (
        (["run", "net.tar", "--report", "made", "--html", "./made"], ["--report and --html both name './made'"]),
        (["run", "net.tar", "-i", "x.npz", "-o", "x.npz"], ["--outputs: 'x.npz' is a file that this command reads"]),
        (["run", "net.tar", "--inputs=x.npz", "-o", "link.npz"], ["--outputs: 'link.npz' is a file that this"]),
        (["quantize", "x.npz", "--calibration", "c.npz", "-o", "x.npz"], ["-o: 'x.npz' is a file that this command"]),
    ):
        check_refused(tvmc(capsys, *arguments), words, arguments[0])
    assert Path("x.npz").read_bytes() == before
