"""Runs mutated executables with `tvmc sim` in one process; the answers go to stdout as JSON.

Arguments: a valid executable, the first case, how many.
"""

import contextlib
import io
import json
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from tests.fuzz.elf_mutations import mutate
from tvm_pulp.tvmc.main import main

_USER_ERROR, _FAULT, _WARM_UP = 126, 127, 64


def run_case(number: int, seed: bytes, folder: Path) -> tuple[int, str]:
    """Exit status of one mutant, and what is wrong with the way it ended."""
    path = folder / "mutant.elf"
    path.write_bytes(mutate(np.random.default_rng([24, number]), seed))
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["sim", str(path), "--max-cycles", "20000"])
    except BaseException as error:
        return -1, f"case {number}: {type(error).__name__}: {error}"
    lines = err.getvalue().splitlines()
    told = bool(lines) and lines[-1].startswith("tvmc sim: ") and len(lines[-1]) > 20
    if not 0 <= status <= _FAULT or (status in (_USER_ERROR, _FAULT) and not told):
        return status, f"case {number}: status {status}, {lines}"
    return status, ""


def campaign(seed: bytes, first: int, count: int) -> dict[str, object]:
    """Statuses, complaints, and by how many MiB memory grew after the first cases."""
    statuses: Counter[int] = Counter()
    complaints: list[str] = []
    warm = 0
    with tempfile.TemporaryDirectory() as name:
        for number in range(first, first + count):
            status, complaint = run_case(number, seed, Path(name))
            statuses[status] += 1
            complaints += [complaint] if complaint else []
            if number - first == _WARM_UP:
                warm = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - warm if warm else 0
    return {"statuses": dict(statuses), "complaints": complaints[:5], "grown_mib": grown // 1024}


if __name__ == "__main__":
    answer = campaign(Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(answer) + "\n")
