"""The useful end of a message of TVM's importers and type rules, as part of a sentence of ours."""

from __future__ import annotations

import re

_LONGEST = 160
# Type rules begin with a description of the operator, and write numbers with their types.
_DESCRIPTION = re.compile(r"^.*support_level=\d+\),? ?")
_NUMBER = re.compile(r"T\.int64\((-?\d+)\)")


def framework_reason(error: Exception) -> str:
    """On one line, without a full stop."""
    text = _NUMBER.sub(r"\1", _DESCRIPTION.sub("", " ".join(str(error).split())))
    return text[-_LONGEST:].rstrip(".") or type(error).__name__
