"""Compiles model files named on standard input, one after the other, in one warm process with limited memory.

Each answer is one line of JSON: exit status of `tvmc compile`, what it wrote to standard error, peak memory in MiB, and
what a C compiler thinks of the emitted sources.
"""

import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import traceback
from pathlib import Path

LIMIT_BYTES = 4 << 30


def check_sources(archive: Path) -> str:
    """Complaints of the C compiler about an archive's sources; empty where there is none or no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            # Our own archive: plain names, so that no filter is needed, which the first Python 3.11 does not know.
            tar.extractall(folder)
        root = Path(folder)
        includes = [f"-I{root / 'codegen/host/include'}", f"-I{root / 'runtime/include'}", f"-I{root / 'runtime/math'}"]
        flags = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes]
        sources = sorted(str(p) for p in (root / "codegen/host/src").glob("*.c"))
        done = subprocess.run([compiler, *flags, *sources], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr if done.returncode else ""


def run_case(path: str, folder: Path) -> dict[str, object]:
    from tvm_pulp.tvmc.main import main

    archive = folder / "model.tar"
    archive.unlink(missing_ok=True)
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            status = main(["compile", path, "-q", "-o", str(archive)])
        text = errors.getvalue()
    except BaseException:
        status, text = 1, traceback.format_exc()
    complaints = check_sources(archive) if status == 0 else ""
    leftovers = [p.name for p in folder.iterdir()] if status else []
    return {"status": status, "text": text[-3000:], "complaints": complaints[:2000], "leftovers": leftovers}


def serve() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The answers have a channel of their own: libraries print to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            answer = run_case(line.rstrip("\n"), Path(folder))
            answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
