"""Failures of the machine, not of ours: full disks, limits of the process, missing rights; each in one sentence."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tvm_pulp.errors import UserError

_ROOM = "free some space, or name folders with room: -o, $TMPDIR and $TVM_PULP_CACHE"
_FILES = "allow more open files with `ulimit -n`"
_MEMORY = "free memory, or allow more with `ulimit -v`"
_PROCESSES = "allow more processes with `ulimit -u`"
_ELSEWHERE = "ask for the right to, or name another place"
# Reason of the operating system -> the way out.
WAYS_OUT = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "allow larger files with `ulimit -f`, or name another place",
    errno.EMFILE: _FILES,
    errno.ENFILE: "close other programs",
    errno.ENOMEM: _MEMORY,
    errno.EAGAIN: _PROCESSES,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.EROFS: _ELSEWHERE,
    errno.EBUSY: "close what uses it, or name another place",
    errno.EIO: "look after the disk",
    errno.ELOOP: "correct the links",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EPIPE: "keep its reader open",
    errno.ENXIO: "open its other end first",
    errno.ESTALE: "mount it again",
    errno.EBADF: "leave it open",
}
# Words of libraries and compilers about the same.
_SAID = (
    (
        re.compile(r"failed to map segment from shared object: (?:Operation not permitted|Permission denied)"),
        errno.EPERM,
    ),
    (re.compile(r"No space left on device|NoSpaceLeft|Disk quota exceeded|DiskQuota"), errno.ENOSPC),
    (re.compile(r"Too many open files|FdQuotaExceeded"), errno.EMFILE),
    (re.compile(r"File too large|FileTooBig"), errno.EFBIG),
    (re.compile(r"Read-only file system|ReadOnlyFileSystem"), errno.EROFS),
    (re.compile(r"can't start new thread|Resource temporarily unavailable|ThreadQuotaExceeded"), errno.EAGAIN),
    (
        re.compile(
            r"Cannot allocate memory|[Oo]ut of memory|OutOfMemory|failed to map segment|cannot map zero-fill|"
            r"bad_alloc|mmap failed|virtual memory exhausted|SystemResources"
        ),
        errno.ENOMEM,
    ),
)


def with_way_out(number: int) -> str:
    """The reason of the operating system, and the way out where one is known."""
    way_out = WAYS_OUT.get(number)
    return os.strerror(number) + (f"; {way_out}" if way_out else "")


def said_reason(text: str) -> int | None:
    """The number of the reason that words of a library or a compiler are about; None where they are about another."""
    return next((number for words, number in _SAID if words.search(text)), None)


def machine_sentence(error: BaseException) -> str | None:
    """The sentence for a failure of the machine; None where the error is something else, such as a bug of ours."""
    if isinstance(error, MemoryError):
        return with_way_out(errno.ENOMEM)
    if isinstance(error, OSError) and error.errno in WAYS_OUT:
        names = [name for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
        named = f"'{os.fsdecode(names[0])}': " if names else ""
        return named + with_way_out(error.errno)
    if isinstance(error, ImportError | RuntimeError | OSError):
        number = said_reason(str(error))
        return None if number is None else with_way_out(number)
    return None


@contextmanager
def refuse_machine_errors(sentence: str, way_out: str = "") -> Iterator[None]:
    """Turn a failure of the machine inside into a user error: sentence, reason, way out."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = way_out or WAYS_OUT.get(error.errno or 0, "")
        raise UserError(f"{sentence}: {reason}{f'; {advice}' if advice else ''}") from None
