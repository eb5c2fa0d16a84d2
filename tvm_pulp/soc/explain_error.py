"""Words for what is wrong with a description: one sentence."""

from pydantic import ValidationError

from tvm_pulp.errors import meant

_LONGEST_VALUE = 80


def _shown(value: object) -> str:
    """A value in a sentence: as Python writes it, of bearable length."""
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def explain(error: ValidationError) -> str:
    """The first problem of a validation in one sentence; a key that does not exist may be why another is missing."""
    found = error.errors()
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    where = ".".join(str(part)[:_LONGEST_VALUE] for part in first["loc"]) or "description"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        missing = [str(e["loc"][-1]) for e in found if e["type"] == "missing" and e["loc"][:-1] == first["loc"][:-1]]
        message = "no such key; " + meant(str(first["loc"][-1]), missing, "remove it or correct its spelling")
    elif first["type"] == "missing":
        message = "this key is required"
    else:
        message = f"{message[:1].lower()}{message[1:]}, not {_shown(first['input'])}" if first["loc"] else message
    return f"{where}: {message}"
