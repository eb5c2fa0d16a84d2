"""The comparison as a table."""

from typing import TextIO

from tvm_pulp.report.verify.deviation import Deviation
from tvm_pulp.report.verify.layer_table import LayerTable

_LONGEST = 48
_HEAD = ("layer", "operator", "engine", "tensor of the model", "from {}", "of its own", "may", "")


def print_table(table: LayerTable, stream: TextIO) -> None:
    """A line per layer, and the sentence. Figures are in LSB, of float layers relative to the largest value."""
    head = tuple(text.format(table.framework) for text in _HEAD)
    lines = [head]
    for row in table.rows:
        own = _larger(row.program, row.arithmetic)
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


def _larger(a: Deviation | None, b: Deviation | None) -> Deviation | None:
    known = [one for one in (a, b) if one is not None]
    return max(known, key=lambda one: one.largest, default=None)
