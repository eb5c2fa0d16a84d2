"""Runs damaged archives with `tvmc run` in one process; the answers go to stdout as JSON.

Arguments: a valid archive, the first case, how many.
"""

import contextlib
import io
import json
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tests.fuzz.archive_mutations import write_mutant
from tvm_pulp.tvmc.main import main

_WARM_UP, _SECONDS_EACH = 10, 120


def run_case(number: int, archive: Path, folder: Path) -> tuple[int, str]:
    """Exit status of one mutant, and what is wrong with the way it ended."""
    mutant = folder / "mutant.tar"
    write_mutant(np.random.default_rng([25, number]), archive, mutant)
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["run", str(mutant), "--max-cycles", "1000000"])
    except BaseException as error:
        return -1, f"case {number}: {type(error).__name__}: {error}"
    last = err.getvalue().splitlines()[-1:]
    if status not in (0, 1, 2) or not last or not last[0].startswith("tvmc run: "):
        return status, f"case {number}: status {status}, {last}"
    return status, ""


def campaign(archive: Path, first: int, count: int) -> dict[str, object]:
    """Statuses, complaints, the longest case, and by how many MiB memory grew after the first cases."""
    statuses: Counter[int] = Counter()
    complaints: list[str] = []
    warm, longest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        for number in range(first, first + count):
            signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_EACH)  # a hang kills the process
            started = time.process_time()
            status, complaint = run_case(number, archive, Path(name))
            longest = max(longest, time.process_time() - started)
            statuses[status] += 1
            complaints += [complaint] if complaint else []
            if number - first == _WARM_UP:
                warm = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - warm if warm else 0
    return {
        "statuses": dict(statuses),
        "complaints": complaints[:5],
        "longest_s": longest,
        "grown_mib": grown // 1024,
    }


if __name__ == "__main__":
    answer = campaign(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(answer) + "\n")
