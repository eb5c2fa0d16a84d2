"""Libraries of zig that it keeps: a folder for all runs, whose files are looked at before they are used.

Objects of ours are in the build cache, so that a folder of zig's for them lasts as long as one run.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain.cache import (
    BUILDING,
    DIGEST,
    check_private,
    digest_path,
    is_unchanged,
    make_folder,
    note_digest,
)

# Libraries, and lists of what each was made of.
_LIBRARIES, _LISTS = "o/*/*", "h/*"
# A file of zig's that says the time, and changes with it.
_CLOCK = "timestamp"
_LOOKED_AT: set[Path] = set()
_LOCK, _NOTING = threading.Lock(), threading.Lock()


@contextmanager
def zig_caches(folder: Path) -> Iterator[dict[str, str]]:
    """Variables that zig is started with."""
    building = folder.parent / BUILDING
    check_private(folder.parent)
    with _LOCK:
        for made in (folder.parent, building, folder):
            make_folder(made)
        if folder not in _LOOKED_AT:
            # Where zig of another process is at work, lists are newer than their digests.
            with _locked(folder, fcntl.LOCK_EX):
                _remove_changed(folder, building)
            _LOOKED_AT.add(folder)
    with _locked(folder, fcntl.LOCK_SH):
        with TemporaryFolder(building) as own:
            yield {"ZIG_GLOBAL_CACHE_DIR": str(folder), "ZIG_LOCAL_CACHE_DIR": str(own), "TMPDIR": str(own)}
        with _NOTING:
            _note(folder)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    """Hold the lock of a folder: shared while zig runs, exclusive while its files are looked at or removed."""
    handle = os.open(folder.with_name(folder.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


def _kept(folder: Path, pattern: str) -> Iterator[Path]:
    for path in folder.glob(pattern):
        if path.suffix != DIGEST and path.name != _CLOCK and path.is_file():
            yield path


def _remove_changed(folder: Path, building: Path) -> None:
    """Remove everything where one file is not as it was: zig makes it again."""
    paths = [path for pattern in (_LIBRARIES, _LISTS) for path in _kept(folder, pattern)]
    if all(is_unchanged(path) for path in paths if digest_path(path).exists()):
        return
    with TemporaryFolder(building) as old:
        folder.replace(old / folder.name)
    folder.mkdir(0o755, exist_ok=True)


def _note(folder: Path) -> None:
    """Put digests beside what is new."""
    with suppress(OSError):
        for path in _kept(folder, _LIBRARIES):
            if not digest_path(path).exists():
                note_digest(path)
        for path in _kept(folder, _LISTS):
            noted = digest_path(path)
            if not noted.exists() or noted.stat().st_mtime_ns < path.stat().st_mtime_ns:
                note_digest(path)
