"""Limits of this process that are too small for anything: said at once, since libraries crash in many ways."""

import os
import resource
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if

# TVM's and numpy's libraries are mapped before anything is done.
_LEAST_FILES, _LEAST_BYTES = 64, 400 << 20


def check_limits() -> None:
    """Raise where the process cannot work, whatever is asked of it."""
    try:
        Path.cwd()
    except OSError:
        raise UserError("the working directory does not exist any more: change into one that does") from None
    try:
        Path.home()
    except RuntimeError:
        from tvm_pulp.toolchain.cache import cache_directory

        # Libraries ask for it, too; the user of a number without an entry may have named the cache.
        os.environ["HOME"] = str(cache_directory().parent)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    refuse_if(
        files != resource.RLIM_INFINITY and files < _LEAST_FILES,
        f"{files} open files are allowed, and {_LEAST_FILES} are needed: allow them with `ulimit -n {_LEAST_FILES}`",
    )
    room, _ = resource.getrlimit(resource.RLIMIT_AS)
    refuse_if(
        room != resource.RLIM_INFINITY and room < _LEAST_BYTES,
        f"{room >> 20} MiB of addresses are allowed, and more than {_LEAST_BYTES >> 20} are needed: allow them with "
        "`ulimit -v`",
    )
