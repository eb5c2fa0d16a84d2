"""The one way in which files that a user names are written: whole or not at all, into what the name stands for.

A link is followed, a device or a pipe is written to as it is, and a regular file is replaced in one step by a file made
beside it, which gets its mode and owner.
"""

import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.machine_errors import refuse_machine_errors
from tvm_pulp.temporary import HELD, LINK, TemporaryFolder, hold, new_name, remove_abandoned

# What devices and pipes get is kept in memory until it is complete, up to so many bytes.
_SPOOLED = 1 << 24
_PRIVATE, _MODE, _EXECUTABLE = 0o600, 0o666, 0o777


@dataclass(frozen=True)
class Destination:
    """The place that a name stands for: a regular file to replace or to make, or one to write to as it is."""

    name: Path
    """As the user wrote it."""
    real: Path
    """Behind all links."""
    found: os.stat_result | None
    """Facts of what is there; None where nothing is."""
    replaced: bool
    """Tell if a new file takes the place."""

    @staticmethod
    def of(path: Path, prefix: str = "") -> "Destination":
        """A user error, which begins with the prefix, where no file can be written."""
        with refuse_machine_errors(f"{prefix or 'cannot write '}'{path}'"):
            try:
                found = path.stat()
            except FileNotFoundError:
                found = None
            real = Path(os.path.realpath(path))
        if found is None:
            refuse_if(not real.parent.is_dir(), f"{prefix}folder '{_shown_folder(path, real)}' does not exist")
            _refuse_unless(os.access(real.parent, os.W_OK | os.X_OK), f"{prefix}folder '{real.parent}'")
            return Destination(path, real, None, True)
        refuse_if(stat.S_ISDIR(found.st_mode), f"{prefix}'{path}' is a folder; name a file")
        _refuse_unless(os.access(path, os.W_OK), f"{prefix}'{path}'")
        # A file that a descriptor alone leads to, such as our own output, or one in a folder that is not ours, stays.
        leads_back = real.is_file() and os.path.samestat(found, real.stat())
        is_ours = any(_is_open_as(found, number) for number in (1, 2))
        in_place = not stat.S_ISREG(found.st_mode) or not leads_back or is_ours
        return Destination(path, real, found, not in_place and os.access(real.parent, os.W_OK | os.X_OK))

    def mode(self, executable: bool) -> int:
        """The mode of a file that is made here, before the user's mask; one that replaces another begins private."""
        return _PRIVATE if self.found is not None else _EXECUTABLE if executable else _MODE

    def take(self, made: Path) -> None:
        """Put a complete file into the place; the file is gone then."""
        if not self.replaced:
            with made.open("rb") as source:
                self.receive(source)
            made.unlink()
            return
        if self.found is not None:
            _make_alike(made, self.found)
        try:
            made.replace(self.real)
        except OSError:
            # Nothing can take the place of a file that is mounted, or of one of others in a folder like /tmp.
            if self.found is None:
                raise
            with made.open("rb") as source:
                self.receive(source)
            made.unlink()

    def receive(self, source: IO[bytes]) -> None:
        """Write content to what is there, as it is."""
        assert self.found is not None
        for number, stream in ((1, sys.stdout), (2, sys.stderr)):
            if _is_open_as(self.found, number):
                if stream is not None:
                    stream.flush()
                descriptor = os.dup(number)
                break
        else:
            descriptor = os.open(self.name, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "wb") as target:
            shutil.copyfileobj(source, target)


def _shown_folder(path: Path, real: Path) -> Path:
    return real.parent if path.is_symlink() else path.parent


def _refuse_unless(allowed: bool, what: str) -> None:
    refuse_if(not allowed, f"{what} cannot be written to: ask for the right to, or name another place")


def _is_open_as(found: os.stat_result, number: int) -> bool:
    """Tell if a descriptor of this process is open on a file."""
    with suppress(OSError):
        return os.path.samestat(found, os.fstat(number))
    return False


def _make_alike(path: Path, found: os.stat_result) -> None:
    """Give a file the owner, where that is allowed, and the mode of another."""
    mode = stat.S_IMODE(found.st_mode)
    made = path.stat()
    for user, group in ((found.st_uid, -1), (-1, found.st_gid)):
        if (user, group) in ((made.st_uid, -1), (-1, made.st_gid)):
            continue
        try:
            os.chown(path, user, group)
        except OSError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # rights of somebody else
    path.chmod(mode)


class OutputFile:
    """A file on its way: `stream` takes its content, `commit` puts it into its place, and `discard` forgets it.

    Without a commit nothing is left of it, whatever ends the process but SIGKILL; then `tvmc doctor --clean` helps.
    """

    def __init__(self, path: str | Path, *, executable: bool = False) -> None:
        self._place = Destination.of(Path(path))
        self._sentence = f"cannot write '{path}'"
        self._made: Path | None = None
        self._forget: Callable[[], object]
        if not self._place.replaced:
            self.stream = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115
            self._forget = weakref.finalize(self, self.stream.close)
            return
        folder = self._place.real.parent
        with refuse_machine_errors(self._sentence):
            remove_abandoned(folder)
            self._made, descriptor = _held_file(folder, self._place.mode(executable))
            self.stream = os.fdopen(descriptor, "w+b", buffering=1 << 16)
            self._forget = weakref.finalize(self, _forget, self.stream, _noted(self._made))

    def commit(self) -> None:
        """The content is complete."""
        try:
            with refuse_machine_errors(self._sentence):
                self.stream.flush()
                if self._made is None:
                    self.stream.seek(0)
                    self._place.receive(self.stream)
                else:
                    os.fsync(self.stream.fileno())
                    self._place.take(self._made)
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave nothing but what was there before, or what was committed."""
        self._forget()


def _held_file(folder: Path, mode: int) -> tuple[Path, int]:
    """A new file, and the descriptor that holds it."""
    while True:
        path = folder / f".{new_name()}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        hold(descriptor)
        if path.exists():
            return path, descriptor
        os.close(descriptor)  # somebody cleaned between the two


def _noted(made: Path) -> tuple[Path, ...]:
    """A file beside an output, and a link in $TMPDIR that leads to it should this process be killed."""
    with suppress(OSError):
        link = Path(tempfile.gettempdir()) / new_name().replace(HELD, LINK)
        link.symlink_to(made)
        return made, link
    return (made,)


def _forget(stream: IO[bytes], paths: Sequence[Path]) -> None:
    # Unwritten bytes would be written now, on a disk that may be full.
    with suppress(OSError):
        stream.close()
    for path in paths:
        with suppress(OSError):
            path.unlink()


@contextmanager
def output_file(path: str | Path, *, executable: bool = False) -> Iterator[BinaryIO]:
    """A stream whose content is the file's when all of it was written."""
    output = OutputFile(path, executable=executable)
    try:
        with refuse_machine_errors(f"cannot write '{path}'"):
            yield output.stream
        output.commit()
    finally:
        output.discard()


def write_output(path: str | Path, content: bytes | str, *, executable: bool = False) -> None:
    """Write a file."""
    with output_file(path, executable=executable) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def write_outputs(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files below a folder, which is made where it is absent: all of them or none; returns their paths."""
    sentence = f"cannot write into '{folder}'"
    made: list[Path] = []
    try:
        with refuse_machine_errors(sentence):
            _make_folder(folder, made)
            remove_abandoned(folder)
            with TemporaryFolder(folder, hidden=True) as staged:
                for number, data in enumerate(files.values()):
                    _write_new(staged / str(number), data)
                for number, name in enumerate(files):
                    _make_folder((folder / name).parent, made)
                    place = Destination.of(folder / name)
                    if place.found is None:
                        made.append(place.real)
                    place.take(staged / str(number))
    except BaseException:
        _remove_made(made)
        raise
    return [folder / name for name in files]


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)


def _make_folder(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it; adds them to those that were made."""
    if not folder.is_dir():
        _make_folder(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _remove_made(made: Sequence[Path]) -> None:
    """Remove files and folders that were made, the last ones first."""
    for path in reversed(made):
        with suppress(OSError):
            (path.rmdir if path.is_dir() and not path.is_symlink() else path.unlink)()


def check_folder(folder: Path, prefix: str) -> None:
    """Raise, before the work, where files could not be written below a folder that may be absent."""
    with refuse_machine_errors(f"{prefix}'{folder}'"):
        there = folder
        while not there.exists() and not there.is_symlink() and there.parent != there:
            there = there.parent
        refuse_if(not there.is_dir(), f"{prefix}'{there}' is not a folder; name another one")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{prefix}folder '{there}' cannot be written to: ask for the right to, or name another place")
