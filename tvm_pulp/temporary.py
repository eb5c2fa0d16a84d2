"""Temporary folders and files that say whether their process still lives, so that what the dead leave can be removed.

Whoever makes one holds a lock on it, which the operating system releases with the process, however that ends.
"""

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tvm_pulp.machine_errors import refuse_machine_errors

# Names begin so; what ends so is held by a lock, or is a link to something that is.
PREFIX = "tvm_pulp_"
HELD, LINK = ".held", ".link"
# Older versions held no locks: what has not changed for so long belongs to nobody.
_SECONDS = 24 * 3600.0


def new_name() -> str:
    """A name that nobody has."""
    return f"{PREFIX}{secrets.token_hex(6)}{HELD}"


def hold(descriptor: int) -> None:
    """Lock what a descriptor stands for, as long as it is open; some network file systems have no locks.

    Who has removed it in between held the lock meanwhile: look if it is there.
    """
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


class TemporaryFolder:
    """A new folder, in $TMPDIR unless another is named; it is removed when it is left, or with its object.

    with TemporaryFolder() as folder:
        (folder / "program.elf").write_bytes(image)
    """

    def __init__(self, parent: Path | None = None, hidden: bool = False) -> None:
        if parent is None:
            with refuse_machine_errors("cannot make a temporary folder", "set TMPDIR to a folder with room"):
                self.path, descriptor = _held_folder(Path(tempfile.gettempdir()), hidden)
        else:
            self.path, descriptor = _held_folder(parent, hidden)
        self._remove = weakref.finalize(self, _remove_held, str(self.path), descriptor)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_error: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove it now."""
        self._remove()


def _held_folder(parent: Path, hidden: bool) -> tuple[Path, int]:
    """A new folder and the descriptor that holds it."""
    while True:
        path = parent / f"{'.' if hidden else ''}{new_name()}"
        path.mkdir(0o700)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # somebody cleaned between the two
        except OSError:
            path.rmdir()
            raise
        hold(descriptor)
        if path.exists():
            return path, descriptor
        os.close(descriptor)


def _remove_held(path: str, descriptor: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(descriptor)


@contextmanager
def _claimed(path: Path) -> Iterator[bool]:
    """Tell if the process that made a folder or file of ours is gone; inside, nobody else comes to hold it."""
    try:
        found = path.lstat()
        name, is_old = path.name.removeprefix("."), time.time() - found.st_mtime > _SECONDS
        if not name.startswith(PREFIX) or found.st_uid != os.geteuid():
            yield False
            return
        if not name.endswith(HELD) or not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            yield is_old
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield _can_lock(descriptor, is_old)
    finally:
        os.close(descriptor)


def _can_lock(descriptor: int, otherwise: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks here
        return otherwise
    return True


def is_abandoned(path: Path) -> bool:
    """Tell if the process that made a folder or file of ours is gone."""
    with _claimed(path) as is_gone:
        return is_gone


def remove_abandoned(folder: Path) -> int:
    """Remove what dead processes left in a folder; returns how many folders and files that were."""
    found = list(_ours(folder))
    return sum(_remove_linked(path) if path.name.endswith(LINK) else _remove_if_abandoned(path) for path in found)


def _remove_if_abandoned(path: Path) -> bool:
    with _claimed(path) as is_gone:
        if is_gone:
            _remove_path(path)
        return is_gone


def _ours(folder: Path) -> Iterator[Path]:
    """Entries of a folder whose names say that we made them."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.removeprefix(".").startswith(PREFIX):
                yield Path(entry.path)


def _remove_linked(link: Path) -> int:
    """Remove a link to a file beside somebody's output, and the file where it is abandoned."""
    try:
        if link.lstat().st_uid != os.geteuid():
            return 0
        target = link.readlink()
    except OSError:
        return 0
    if not target.exists():
        link.unlink(missing_ok=True)
        return 0
    if not _remove_if_abandoned(target):
        return 0
    link.unlink(missing_ok=True)
    return 1


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
