"""Text in YAML as Python values."""

import re
from typing import Any

import yaml

# The loader in C, where the library was built with it: ten times as fast, and a compile reads several files.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# No description or study is deeper, and the library recurses.
_DEEPEST = 50
# Values after aliases are written out: nine lines can stand for a billion.
_MOST_VALUES = 1_000_000
_NUMBER = re.compile(r"[-+]?[0-9][0-9a-fA-FxX_:.eE+-]*")
_MOST_DIGITS = 40


def read_text(text: str) -> Any:
    """The value that a text says; `yaml.YAMLError` where it says none."""
    _check_structure(text)
    try:
        return yaml.load(text, _LOADER)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        # The library's own classes are for the grammar only, not for a 13th month.
        raise yaml.YAMLError(f"a value in it cannot be read ({str(error).split(';')[0][:80]})") from None


def _check_structure(text: str) -> None:
    """Raise for a text that is nested too deeply, or stands for too many values by its aliases."""
    sizes: dict[str, int] = {}
    # Collections that are open: their anchors, and the values in them so far.
    anchors: list[str | None] = []
    counts = [0]
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            anchors.append(event.anchor)
            counts.append(1)
            if len(anchors) > _DEEPEST:
                raise yaml.YAMLError(f"it is nested deeper than {_DEEPEST} levels")
            continue
        size = 1
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = anchors.pop(), counts.pop()
        elif isinstance(event, yaml.AliasEvent):
            # One inside of what it names stands for no value at all.
            anchor, size = None, sizes.get(str(event.anchor), _MOST_VALUES + 1)
        elif isinstance(event, yaml.ScalarEvent):
            anchor = event.anchor
            digits = sum(c.isalnum() for c in event.value)
            if event.implicit[0] and digits > _MOST_DIGITS and _NUMBER.fullmatch(event.value):
                raise yaml.YAMLError(f"a number of {digits} digits is in it, and nothing takes one")
        else:
            continue
        counts[-1] += size
        if anchor is not None:
            sizes[anchor] = size
        if counts[-1] > _MOST_VALUES:
            raise yaml.YAMLError(f"its aliases stand for more than {_MOST_VALUES} values")
