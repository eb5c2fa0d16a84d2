"""From the arguments of a call to its cost."""

from collections.abc import Callable, Mapping
from typing import Any

from schedules.kernel_numbers import KINDS, PULP_WIDE

Fields = Mapping[str, Any]
"""Arguments of a call by field name, members of members as `requant.kind`; a pointer is 0 or anything else."""

Work = dict[str, float]
"""How often the slowest core does what: names of coefficients with counts."""

WorkOf = Callable[[Any, int], Work]
"""Arguments of a call and the number of cores to work."""

# What costs alike has one name.
_NAMES = {number: name for name, number in KINDS.items()} | {PULP_WIDE: "pulp_wide"}
_NAMES |= {KINDS["shift_even"]: "shift", KINDS["shift_away"]: "away"}
_NAMES |= {KINDS[name]: "pulp_wide" for name in ("offset_half_even", "high_word")}


def share(items: int, cores: int) -> int:
    """Items of the core that has most."""
    return -(-items // cores)


def share_groups(groups: int, rows: int, cores: int, begun: int = 4) -> tuple[int, int]:
    """Groups and rows of each that the core with most has, as the kernels' group_share.h shares them."""
    if groups >= cores:
        return share(groups, cores), rows
    if groups in (2, 4) and cores % groups == 0:
        return 1, share(rows, cores // groups)
    in_parts = rows * (cores - groups) > begun * groups * cores
    return (groups, share(rows, cores)) if in_parts else (1, rows)


def words(size: int) -> int:
    """Whole words that hold so many bytes."""
    return -(-size // 4)


def given(pointer: Any) -> bool:
    """Tell whether a pointer is not null."""
    return pointer is not None and not (isinstance(pointer, int) and pointer == 0)


def kind_of(fields: Fields) -> str:
    """Kind of a requantization; `..._range`: its range cannot be clipped by one instruction; `scaled`: short."""
    kind, low, high = (fields[f"requant.{name}"] for name in ("kind", "low", "high"))
    name = _NAMES[kind]
    if name in ("tflite", "half_up") and fields["requant.shift"]:
        return "scaled"
    if kind == KINDS["high_word"] and not fields["requant.wide_result"] and (high - low) % 2:
        return "scaled"
    if name in ("pulp", "tflite", "shift"):
        if fields["requant.wide_result"] or not (low == 0 or low == ~high):
            return f"{name}_range"
        if name == "tflite" and low == 0 and fields["requant.zero_point"] == 0:
            # Nothing below zero survives: halves need no care.
            return "tflite_positive"
    return name


def is_four(fields: Fields) -> bool:
    """Tell whether the element-wise kernels requantize four elements at a time."""
    return kind_of(fields) == "pulp" and not fields["requant.per_channel"]
