"""Limits of this process that are too small for anything: said at once, since libraries crash in many ways."""

import resource
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if

# TVM's and numpy's libraries are mapped before anything is done.
_LEAST_FILES = 64


def check_limits() -> None:
    """Raise where the process cannot work, whatever is asked of it."""
    try:
        Path.cwd()
    except OSError:
        raise UserError("the working directory does not exist any more: change into one that does") from None
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    refuse_if(
        files != resource.RLIM_INFINITY and files < _LEAST_FILES,
        f"{files} open files are allowed, and {_LEAST_FILES} are needed: allow them with `ulimit -n {_LEAST_FILES}`",
    )
