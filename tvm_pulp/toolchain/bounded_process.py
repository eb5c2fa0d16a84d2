"""A compiler as a process that cannot take all of the machine: what it compiles may come from anybody.

Limits of address space, processor time and written bytes are set by the shell that starts it, so that they hold from
its first instruction on; where there is no shell, only the time is limited.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tvm_pulp.child_processes import descendants
from tvm_pulp.limits import COMPILED_BYTES, COMPILER_BYTES, COMPILER_SECONDS, Limit

# A limit that the system does not know stays as it is.
_SET = "ulimit -S -{} {} 2>/dev/null; "
_START = 'exec "$@"'
_SIGNALS = {signal.SIGXCPU: COMPILER_SECONDS, signal.SIGXFSZ: COMPILED_BYTES}
# What compilers, assemblers and linkers say, in the words of their libraries.
_TEXTS = {
    "out of memory": COMPILER_BYTES,
    "outofmemory": COMPILER_BYTES,
    "bad_alloc": COMPILER_BYTES,
    "memory exhausted": COMPILER_BYTES,
    "cannot allocate memory": COMPILER_BYTES,
    "virtual memory": COMPILER_BYTES,
    "file too large": COMPILED_BYTES,
    "cpu time limit": COMPILER_SECONDS,
    "file size limit": COMPILED_BYTES,
}


def run_bounded(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit status of a command and all that it says; a status of 1 and a sentence where it took too much."""
    process = subprocess.Popen(
        _limited(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
    )
    try:
        text, _ = process.communicate(timeout=COMPILER_SECONDS.most)
    except subprocess.TimeoutExpired:
        _kill(process)
        return 1, _sentence(COMPILER_SECONDS)
    except BaseException:
        _kill(process)
        raise
    exceeded = _exceeded(process.returncode, text)
    return (process.returncode, text) if exceeded is None else (process.returncode or 1, _sentence(exceeded))


def _limited(command: Sequence[str]) -> list[str]:
    shell = shutil.which("sh") if os.name == "posix" else None
    if shell is None:
        return list(command)
    wanted = {"v": (COMPILER_BYTES, 10), "t": (COMPILER_SECONDS, 0), "f": (COMPILED_BYTES, 9)}
    stated = [_SET.format(name, limit.most >> shift) for name, (limit, shift) in wanted.items() if _is_ours(limit)]
    script = "".join([*stated, _START])
    return [shell, "-c", script, "sh", *command]


def _is_ours(limit: Limit) -> bool:
    """Tell if a limit is lower than what this process may take anyway."""
    if os.name != "posix":
        return True
    import resource

    kinds = {COMPILER_BYTES: resource.RLIMIT_AS, COMPILED_BYTES: resource.RLIMIT_FSIZE}
    known = resource.getrlimit(kinds.get(limit, resource.RLIMIT_CPU))[0]
    return known == resource.RLIM_INFINITY or known > limit.most


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a compiler with all that it has started: a driver's parts would go on."""
    for child in [process.pid, *descendants(process.pid)]:
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    process.communicate()


def _exceeded(status: int, text: str) -> Limit | None:
    """The limit that ended a command; None where it ended by itself."""
    if status == 0:
        return None
    for number, limit in _SIGNALS.items():
        # A shell or a driver adds 128 to the signal of what it has started.
        if status in (-number, 128 + number):
            return limit if _is_ours(limit) else None
    low = text.lower()
    return next((limit for words, limit in _TEXTS.items() if words in low and _is_ours(limit)), None)


def _sentence(limit: Limit) -> str:
    return f"error: the compiler needs more than {limit.most:,} {limit.of}; {limit.way_out()}"
