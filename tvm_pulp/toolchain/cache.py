"""Files named by what went into them, so that nothing is built twice and nothing stale is used.

Beside every file stands a digest of its content, which is looked at before the file is used: what was cut off by a
full disk or changed by anybody is made again. A folder in which others can write is not used.
"""

import errno
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.temporary import TemporaryFolder, remove_abandoned

VARIABLE = "TVM_PULP_CACHE"
# A digest, and what kind of file it is.
_OURS = re.compile(r"[0-9a-f]{64}\.?\w*")
# What older versions were making there, and how long that may take.
_OLD_UNFINISHED, _SECONDS = re.compile(r"[0-9a-f]{16}\.\w{8}(\.\w+)*"), 24 * 3600.0
# The end of the name of a digest, and the folder of what is being made.
DIGEST, BUILDING = ".sha256", "building"
_OTHERS_WRITE = 0o002
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# What a file was like when its digest was found right: in one process, it is read for that once.
_Seen = tuple[str, int, int, int]
_CHECKED: set[_Seen] = set()
# Folders whose remains were cleared away by this process.
_CLEARED: set[Path] = set()


def cache_directory() -> Path:
    """Return the cache folder: $TVM_PULP_CACHE, else tvm_pulp in the user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    of_user = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(of_user or Path.home() / ".cache").absolute() / "tvm_pulp"
    except RuntimeError:  # neither $HOME nor an entry of the user
        raise UserError(f"there is no home folder for the build cache: set {VARIABLE} to a folder of yours") from None


def digest_of(parts: Iterable[str | bytes]) -> str:
    """Return a SHA-256 over the parts; each is preceded by its length, so that borders count."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def cached_file(key: str, suffix: str, produce: Callable[[Path], object], folder: Path | None = None) -> Path:
    """Return the file of `key`, calling `produce(temporary_path)` first if it does not exist yet or was changed.

    The result appears under its name only when it is complete, so a killed or failing build leaves nothing behind
    that a later one would take. Treat the file as read-only. `folder` is used instead of the cache.
    """
    known = known_file(key, suffix, folder)
    if known is not None:
        return known
    top = folder or cache_directory()
    final = _place(top, key, suffix)
    try:
        # Others must not write there, whatever the user's mask is.
        for made in (top, final.parent, top / BUILDING):
            make_folder(made)
        if top not in _CLEARED:
            _CLEARED.add(top)
            remove_abandoned(top / BUILDING)
        with TemporaryFolder(top / BUILDING) as building:
            temporary = building / final.name
            temporary.touch()
            produce(temporary)
            note_digest(temporary)
            digest_path(temporary).replace(digest_path(final))
            temporary.replace(final)
    except OSError as error:
        if error.errno not in _FULL:
            if error.filename is None or not str(error.filename).startswith(str(top)):
                raise
            raise UserError(
                f"the build cache {top} is not writable ({error.strerror}): set {VARIABLE} to a folder that is"
            ) from error
        raise UserError(
            f"the build cache {top} cannot be written ({error.strerror}): free space there, or set {VARIABLE} to "
            "another folder"
        ) from error
    _CHECKED.add(_seen(final))
    return final


def make_folder(folder: Path) -> None:
    """Make a folder where there is none. One that another process removes while it is looked at is made again."""
    for last in (False, False, True):
        try:
            folder.mkdir(0o755, parents=True, exist_ok=True)
            return
        except FileExistsError:
            if last or os.path.lexists(folder):
                raise


def known_file(key: str, suffix: str, folder: Path | None = None) -> Path | None:
    """Return the file of `key` where it is as it was made, else None; a user error where others can change it."""
    top = folder or cache_directory()
    check_private(top)
    final = _place(top, key, suffix)
    return final if is_unchanged(final) else None


def _place(top: Path, key: str, suffix: str) -> Path:
    return top / key[:2] / f"{key}{suffix}"


def check_private(folder: Path) -> None:
    """Raise where a folder of files that we run belongs to another user, or others can write in it."""
    try:
        found = folder.stat()
    except OSError:
        return  # it is made, or using it says why not
    refuse_if(
        found.st_uid not in (os.geteuid(), 0),
        f"the build cache {folder} belongs to another user (number {found.st_uid}), who could change what is run: set "
        f"{VARIABLE} to a folder of yours",
    )
    refuse_if(
        found.st_mode & _OTHERS_WRITE,
        f"everybody can write in the build cache {folder} and change what is run: say `chmod o-w {folder}` if you "
        f"trust what is in it, or set {VARIABLE} to another folder",
    )


def digest_path(path: Path) -> Path:
    """The file that holds the digest of another, beside it."""
    return path.with_name(path.name + DIGEST)


def note_digest(path: Path) -> None:
    """Put the digest of a file beside it."""
    digest_path(path).write_text(_content_digest(path), encoding="ascii")


def is_unchanged(path: Path) -> bool:
    """Tell if a file has the content that its digest was made of."""
    try:
        now = _seen(path)
        if now in _CHECKED:
            return True
        if digest_path(path).read_bytes() != _content_digest(path).encode():
            return False
    except OSError:
        return False
    _CHECKED.add(now)
    return True


def _content_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _seen(path: Path) -> _Seen:
    found = path.stat()
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def cached_files() -> list[Path]:
    """Files of the cache: those that carry a digest for a name, whatever else the folder holds."""
    found = cache_directory().glob("[0-9a-f][0-9a-f]/*")
    return sorted(path for path in found if _OURS.fullmatch(path.name) and path.is_file())


def clean_cache() -> int:
    """Remove the files of the cache, and what dead processes were making in it; returns the bytes of its files."""
    size = 0
    for path in cached_files():
        size += path.stat().st_size
        path.unlink(missing_ok=True)
        digest_path(path).unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()
    for path in cache_directory().glob("[0-9a-f][0-9a-f]/*"):
        if _OLD_UNFINISHED.fullmatch(path.name) and time.time() - path.lstat().st_mtime > _SECONDS:
            path.unlink(missing_ok=True)
    remove_abandoned(cache_directory() / BUILDING)
    with suppress(OSError):
        (cache_directory() / BUILDING).rmdir()
    return size
