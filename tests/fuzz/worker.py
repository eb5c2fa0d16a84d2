"""Runs commands of `tvmc` named on standard input, one after the other, in one warm process with limited memory.

A request is a line of JSON: the arguments, and the folder that the command writes to. An answer is another: the exit
status, what went to standard error, peak memory in MiB, what a failed command left behind, what a C compiler thinks of
sources that it wrote, and outputs of its program where they are asked for. What the process says when it dies goes to
the file that is its argument.
"""

import contextlib
import faulthandler
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import traceback
from pathlib import Path
from typing import Any

# Processor time of a case; the process dies with a stack when it is over.
SECONDS_EACH = 60
LIMIT_BYTES = 4 << 30


def check_sources(archive: Path) -> str:
    """Complaints of the C compiler about an archive's sources; empty where there is none or no compiler."""
    compiler = shutil.which("cc")
    if compiler is None or not archive.is_file():
        return ""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            # Our own archive: plain names, so that no filter is needed, which the first Python 3.11 does not know.
            tar.extractall(folder)
        root = Path(folder)
        includes = [f"-I{root / 'codegen/host/include'}", f"-I{root / 'runtime/include'}", f"-I{root / 'runtime/math'}"]
        flags = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes]
        sources = sorted(str(p) for p in (root / "codegen/host/src").glob("*.c"))
        if not sources or any((root / "runtime").glob("*/link.ld")):
            return ""
        done = subprocess.run([compiler, *flags, *sources], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr if done.returncode else ""


def write_outputs(archive: Path, target: Path) -> None:
    """What the program makes of seeded inputs, and the inputs, as .npz: `in:` and `out:` before their names."""
    import numpy as np

    from tvm_pulp.api import App

    app = App.load(archive)
    result = app.run()
    names = [described["name"] for described in app.metadata["tvm_pulp"]["inputs"]]
    arrays = {f"in:{name}": array for name, array in zip(names, result.inputs, strict=True)}
    np.savez(target, **arrays, **{f"out:{name}": array for name, array in result.outputs.items()})


def peak_mib() -> int:
    """Most memory that this process had since the last call, where the system tells; else ever."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")
        return peak // 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_case(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to one request."""
    from tvm_pulp.tvmc.main import main

    out, errors = Path(request["out"]), io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            status = main(request["arguments"])
        text = errors.getvalue()
    except BaseException:
        status, text = -1, traceback.format_exc()
    leftovers = sorted(path.name for path in out.rglob("*")) if status else []
    complaints = ""
    if status == 0 and request["arguments"][0] == "compile":
        try:
            complaints = check_sources(out / "model.tar")
            if request["compare"] and not complaints:
                write_outputs(out / "model.tar", Path(request["compare"]))
        except BaseException:
            status, text = -1, traceback.format_exc()
    return {"status": status, "text": text[-4000:], "complaints": complaints[:2000], "leftovers": leftovers}


def serve(told: Path) -> None:
    """Answer until the input ends."""
    last_words = told.open("w")
    faulthandler.enable(last_words)
    faulthandler.register(signal.SIGPROF, last_words, chain=True)
    if "LD_PRELOAD" not in os.environ:  # address checks reserve a part of the address space
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The answers have a channel of their own: libraries print to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, SECONDS_EACH)
        peak_mib()
        answer = run_case(json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(answer | {"peak_mib": peak_mib()}), file=answers, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
