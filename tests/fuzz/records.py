"""Changes of nested lists and dictionaries, as JSON and YAML hold them."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.fuzz.draws import NAMES, Random, one

# An integer of more digits than Python prints, and one that only floats hold.
HUGE = 10**400
WRONG: tuple[Any, ...] = (
    *(None, 0, -1, 1, 3, 1 << 31, 1 << 63, HUGE, "", "x" * 50, [], {}, [[]], {"": None}, True, 1.5, float("inf")),
    *(float("nan"), -0.0, "\ud800", "../../etc/passwd", "0x10", "1e999", "128k", *NAMES[:5]),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of nested lists and dictionaries: what it is in, and under which key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from places(inner)


def edit_record(rng: Random, record: Any) -> None:
    """Remove, replace, scale, exchange, repeat, rename or nest one entry."""
    found = list(places(record))
    if not found:
        return
    parent, key = one(rng, found)
    value, choice = parent[key], rng.random()
    if choice < 0.2:
        del parent[key]
    elif choice < 0.5:
        parent[key] = copy.deepcopy(one(rng, WRONG))
    elif choice < 0.6 and isinstance(value, int | float):
        parent[key] = one(rng, [-value, value + 1, value - 1, value * 1000, value / 3])
    elif choice < 0.75:
        other, place = one(rng, found)
        parent[key] = copy.deepcopy(other[place])
    elif choice < 0.85 and isinstance(parent, list):
        parent += [copy.deepcopy(value)] * one(rng, [1, 2, 300])
    elif choice < 0.9 and isinstance(parent, dict):
        parent[one(rng, [*NAMES, 1, None, True])] = parent.pop(key)
    else:
        for _ in range(one(rng, [1, 30, 3000])):
            parent[key] = [parent[key]]


def edit_json(rng: Random, text: bytes) -> bytes:
    """One entry of a text in JSON."""
    record = json.loads(text)
    edit_record(rng, record)
    return json.dumps(record).encode()
