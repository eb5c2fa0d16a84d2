"""Findings of the comparison of a network's layers: differences, and the table that shows them."""

from dataclasses import dataclass
from typing import TextIO

import numpy as np

# Of a float layer, relative to its largest value: the order of sums and functions of the C library differ.
FLOAT_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Deviation:
    """The largest difference, and how many values differ at all."""

    largest: float
    differing: int
    values: int
    is_float: bool

    def within(self, bound_lsb: float) -> bool:
        """Tell if it is not more than a layer may differ; a float layer has its own tolerance."""
        return self.largest <= (FLOAT_TOLERANCE if self.is_float else bound_lsb)

    @property
    def text(self) -> str:
        if not self.largest:
            return "0"
        if self.is_float:
            return f"{self.largest:.0e}" if np.isfinite(self.largest) else "not finite"
        return f"{self.largest:.0f} ({self.differing} of {self.values})"


def deviation(found: np.ndarray, expected: np.ndarray) -> Deviation:
    """Of two arrays of the same number of values."""
    a, b = found.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    is_float = found.dtype.kind == "f"
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    scale = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), 1e-30) if is_float else 1.0
    largest = float(difference.max(initial=0.0)) / scale
    return Deviation(largest, int(np.count_nonzero(~same)), a.size, is_float)


@dataclass(frozen=True)
class LayerRow:
    """One layer."""

    name: str
    operator: str
    engine: str
    # Of the model; empty where the layer's result is none of its tensors.
    tensor: str
    # Of what the program computed: from the layer's reference for the very operands that the program had.
    program: Deviation | None
    # Of the layer's reference for the framework's operands from the framework's result.
    arithmetic: Deviation | None
    # Of what the program computed from the framework's result: with all that the layers before it did.
    total: Deviation | None
    bound_lsb: float
    reference_bound_lsb: float

    @property
    def program_is_wrong(self) -> bool:
        return self.program is not None and not self.program.within(self.bound_lsb)

    @property
    def arithmetic_is_wrong(self) -> bool:
        return self.arithmetic is not None and not self.arithmetic.within(self.reference_bound_lsb)

    @property
    def wrong(self) -> bool:
        return self.program_is_wrong or self.arithmetic_is_wrong


@dataclass(frozen=True)
class LayerTable:
    """Layers in the order in which they run."""

    framework: str
    rows: tuple[LayerRow, ...]

    @property
    def first_wrong(self) -> str | None:
        """The name of the first layer that differs more than it may."""
        return next((row.name for row in self.rows if row.wrong), None)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Layers of which nothing could be compared."""
        return tuple(row.name for row in self.rows if row.program is None and row.total is None)

    @property
    def sentence(self) -> str:
        """The findings in one sentence."""
        wrong = next((row for row in self.rows if row.wrong), None)
        if wrong is None:
            compared = len(self.rows) - len(self.unseen)
            named = sum(bool(row.tensor) for row in self.rows)
            return (
                f"{compared} of {len(self.rows)} layers compared, none differs more than it may; {named} of them are "
                f"tensors of the model"
            )
        if wrong.program_is_wrong:
            assert wrong.program is not None
            apart, bound, what = wrong.program, wrong.bound_lsb, "the program computes something else for its operands"
        else:
            assert wrong.arithmetic is not None
            apart, bound = wrong.arithmetic, wrong.reference_bound_lsb
            what = f"it is not what {self.framework} computes for '{wrong.tensor}'"
        unit = f"{apart.text} of its largest value" if apart.is_float else f"{apart.text} LSB, it may by {bound:.0f}"
        return f"layer '{wrong.name}' ({wrong.operator} on {wrong.engine}) is the first that differs: by {unit}; {what}"


_LONGEST = 48
_HEAD = ("layer", "operator", "engine", "tensor of the model", "from {}", "of its own", "may", "")


def print_table(table: LayerTable, stream: TextIO) -> None:
    """A line per layer, and the sentence. Figures are in LSB, of float layers relative to the largest value."""
    head = tuple(text.format(table.framework) for text in _HEAD)
    lines = [head]
    for row in table.rows:
        known = [one for one in (row.program, row.arithmetic) if one is not None]
        own = max(known, key=lambda one: one.largest, default=None)
        lines.append(
            (
                _short(row.name),
                _short(row.operator),
                row.engine,
                _short(row.tensor) or "-",
                "-" if row.total is None else row.total.text,
                "-" if own is None else own.text,
                f"{max(row.bound_lsb, row.reference_bound_lsb if row.tensor else 0):.0f}",
                "WRONG" if row.wrong else "",
            )
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip(), file=stream)
    print(f"\n{table.sentence}", file=stream)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
