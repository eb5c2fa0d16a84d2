"""Libraries that only studies need: a missing one is one sentence with the way out."""

import importlib
from typing import Any

from tvm_pulp.errors import UserError


def need(module: str, why: str) -> Any:
    """The module; a user error that names the line for pip where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = error.name or module
        raise UserError(f"{why} needs {name}, which is not installed: run `pip install 'tvm_pulp[dse]'`") from None
