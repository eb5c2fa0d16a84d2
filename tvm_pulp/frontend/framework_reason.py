"""The useful end of a message of TVM's importers and type rules, as part of a sentence of ours."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

_LONGEST = 160
# Type rules begin with a description of the operator, and write numbers with their types.
_DESCRIPTION = re.compile(r"^.*support_level=\d+\),? ?")
_NUMBER = re.compile(r"T\.int64\((-?\d+)\)")


def framework_reason(error: Exception, shapes: Sequence[Iterable[Any]]) -> str:
    """The refusal of a node with operands of these shapes: on one line, without a full stop."""
    text = _NUMBER.sub(r"\1", _DESCRIPTION.sub("", " ".join(str(error).split())))
    reason = text[-_LONGEST:].rstrip(".") or type(error).__name__
    operands = " and ".join(f"[{', '.join(map(str, s))}]" for s in shapes) or "no known shape"
    return f"cannot be converted with operands of shape {operands} ({reason})"
