"""Contents of symbols that a program printed when it ended: lines `data NAME OFFSET HEX`, then `end`."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_DATA = re.compile(r"^data (\w+) ([0-9a-f]{8}) ((?:[0-9a-f]{2})+)$")


class NothingPrinted(Exception):
    """The text does not end as a program does that came to its end."""


def parse_contents(text: str) -> dict[str, bytes]:
    """Bytes by symbol; NothingPrinted unless the end marker stands behind them."""
    found: dict[str, bytearray] = {}
    ended = False
    for line in text.splitlines():
        match = _DATA.match(line.strip())
        if match is not None:
            held = found.setdefault(match[1], bytearray())
            if int(match[2], 16) != len(held):
                raise NothingPrinted(f"lines of '{match[1]}' are missing")
            held += bytes.fromhex(match[3])
        ended = ended or (line.strip() == "end" and bool(found))
    if not ended:
        raise NothingPrinted("the end marker is missing")
    return {name: bytes(data) for name, data in found.items()}


def output_arrays(facts: Mapping[str, Any], contents: Mapping[str, bytes]) -> list[np.ndarray]:
    """Outputs in graph order."""
    return [
        np.frombuffer(contents.get(tensor["symbol"], b""), tensor["dtype"]).reshape(tensor["shape"]).copy()
        for tensor in facts["outputs"]
    ]


def words(contents: Mapping[str, bytes], symbol: str) -> np.ndarray:
    """An array of 32-bit words."""
    return np.frombuffer(contents.get(symbol, b""), np.uint32)


def layer_cycles(contents: Mapping[str, bytes]) -> list[int]:
    """Cycles between neighbouring marks of the last inference; the counter may wrap around."""
    count = int(words(contents, "tvm_pulp_mark_count")[0])
    return [int(cycles) for cycles in np.diff(words(contents, "tvm_pulp_layer_cycles")[: max(count, 1)])]
