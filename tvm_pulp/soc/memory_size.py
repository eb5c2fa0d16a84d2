"""Sizes of memories as people write them: `65536`, `64k`, `1.5M`."""

import re

from tvm_pulp.errors import UserError

# Memories come in powers of two: k is 1024, as in every data sheet.
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}


def parse_size(option: str, size: int | str) -> int:
    """Bytes; a text may end in k, KiB, M or MiB."""
    if isinstance(size, int) and not isinstance(size, bool):
        return size
    # Files hold values of any type here.
    text = size if isinstance(size, str) else ""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([km])(?:i?b)?|b)?\s*", text, re.IGNORECASE)
    if match is not None:
        total = float(match[1]) * _UNITS[(match[2] or "").lower()]
        if total.is_integer():
            return int(total)
    raise UserError(f"{option} '{size}' is no number of bytes: write 65536, 64k (64 times 1024) or 1M")
