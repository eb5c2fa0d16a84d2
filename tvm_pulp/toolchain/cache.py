"""Files named by what went into them, so that nothing is built twice and nothing stale is used."""

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tvm_pulp.errors import UserError

VARIABLE = "TVM_PULP_CACHE"
# A digest, and what kind of file it is.
_OURS = re.compile(r"[0-9a-f]{64}\.?\w*")


def cache_directory() -> Path:
    """Return the cache folder: $TVM_PULP_CACHE, else tvm_pulp in the user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tvm_pulp"


def digest_of(parts: Iterable[str | bytes]) -> str:
    """Return a SHA-256 over the parts; each is preceded by its length, so that borders count."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def cached_file(key: str, suffix: str, produce: Callable[[Path], object], folder: Path | None = None) -> Path:
    """Return the file of `key`, calling `produce(temporary_path)` first if it does not exist yet.

    The result appears under its name only when it is complete, so a killed or failing build leaves nothing behind
    that a later one would take. Treat the file as read-only. `folder` is used instead of the cache.
    """
    final = (folder or cache_directory()) / key[:2] / f"{key}{suffix}"
    if final.is_file():
        return final
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{key[:16]}.", suffix=suffix, dir=final.parent)
    except OSError as error:
        raise UserError(
            f"the build cache {folder or cache_directory()} is not writable ({error.strerror}): "
            f"set {VARIABLE} to a folder that is"
        ) from error
    os.close(handle)
    temporary = Path(name)
    try:
        produce(temporary)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)
    return final


def cached_files() -> list[Path]:
    """Files of the cache: those that carry a digest for a name, whatever else the folder holds."""
    found = cache_directory().glob("[0-9a-f][0-9a-f]/*")
    return sorted(path for path in found if _OURS.fullmatch(path.name) and path.is_file())


def clean_cache() -> int:
    """Remove the files of the cache; returns their bytes."""
    size = 0
    for path in cached_files():
        size += path.stat().st_size
        path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()
    return size
