"""JSON as RFC 8259 has it: no lone surrogates, no NaN or infinity, and not deeper than a reader can follow."""

import math
import re
from typing import Any

from pydantic_core import from_json as _parse

# What may be a number beyond those of floating point: seldom, and then the values are looked at.
_PERHAPS_INFINITE = re.compile(r"[0-9]{300}|[0-9][eE]\+?[0-9]{3}|NaN|Infinity")


def read_json(text: str | bytes) -> Any:
    """The value of a text, as `json.loads` gives it; ValueError where it is none."""
    value = _parse(text, allow_inf_nan=False, cache_strings=True)
    check_finite(text, value)
    return value


def check_finite(text: str | bytes, value: Any = None) -> None:
    """Raise ValueError for JSON with a number that is not finite; `value`: that of the text, if it is known."""
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if not _PERHAPS_INFINITE.search(shown):
        return
    pending = [_parse(text, allow_inf_nan=False) if value is None else value]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            pending += found.values()
        elif isinstance(found, list):
            pending += found
        elif isinstance(found, float) and not math.isfinite(found):
            raise ValueError("a number is not finite")
