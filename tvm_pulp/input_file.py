"""Files that a user names as inputs: the one place that opens them.

A device, a pipe or a folder in the place of a file, one that is too large, and what the operating system says are user
errors, before anything is read.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.limits import Limit

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
    (stat.S_ISSOCK, "it is a socket"),
)
_PIECE = 1 << 20


@contextmanager
def open_input(path: str | Path, sentence: str, limit: Limit | None, way_out: str = "") -> Iterator[BinaryIO]:
    """Open a regular file to read; `sentence` says that it cannot be read, the reason and the way out follow."""
    try:
        check_input_file(path, sentence, way_out)
        # A pipe that has taken the file's place since must not keep us waiting.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            _refuse_kind(status.st_mode, sentence, way_out)
            _check_size(status.st_size, sentence, limit)
            yield stream
    except OSError as error:
        raise UserError(f"{sentence}: {error.strerror or error}{way_out}") from None


def check_input_file(path: str | Path, sentence: str, way_out: str = "") -> None:
    """Raise unless a path names a regular file; for files that a library opens."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise UserError(f"{sentence}: {error.strerror or error}{way_out}") from None
    except ValueError:
        raise UserError(f"{sentence}: no file has such a name{way_out}") from None
    _refuse_kind(mode, sentence, way_out)


def is_input_file(path: str | Path) -> bool:
    """Tell if a path names a regular file."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Tell if a path names a folder."""
    return stat.S_ISDIR(_mode(path))


def is_absent(path: str | Path) -> bool:
    """Tell if nothing has a name; not so where the system refuses the name, or a look at it, which reading will say."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _mode(path: str | Path) -> int:
    """The mode of what a path names; 0 where there is nothing, or nothing can have such a name."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0


def _refuse_kind(mode: int, sentence: str, way_out: str) -> None:
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "")
    refuse_if(not stat.S_ISREG(mode), f"{sentence}: {kind or 'it is no file'}{way_out or ', give a regular file'}")


def _check_size(size: int, sentence: str, limit: Limit | None) -> None:
    if limit is not None and size > limit.most:
        raise UserError(f"{sentence}: it has {size:,} bytes, more than {limit.most:,}; {limit.way_out(size)}")


def read_input(path: str | Path, sentence: str, limit: Limit, way_out: str = "") -> bytes:
    """The bytes of a regular file."""
    with open_input(path, sentence, limit, way_out) as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read(size + 1)
        if len(content) <= size:
            return content
        # Files of the kernel state no size.
        pieces, size = [content], len(content)
        while piece := stream.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            refuse_if(size > limit.most, f"{sentence}: it has more than {limit.most:,} bytes; {limit.way_out()}")
        return b"".join(pieces)


def read_input_text(path: str | Path, sentence: str, limit: Limit, way_out: str = "") -> str:
    """The text of a regular file in UTF-8."""
    try:
        return read_input(path, sentence, limit, way_out).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{sentence}: it is no text in UTF-8{way_out}") from None
