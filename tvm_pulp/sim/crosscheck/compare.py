"""Figures of two devices side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.sim.crosscheck.measure import Measurement


def deviation(ours: float, theirs: float) -> float | None:
    """The excess of `ours` over `theirs` in per cent; None where theirs is nothing."""
    return 100 * (ours - theirs) / theirs if theirs else None


@dataclass(frozen=True)
class Row:
    """Cycles of a layer, or of the whole."""

    name: str
    cycles: tuple[int | None, ...]
    """By device, in their order."""
    deviations: tuple[float | None, ...]
    """Of the first device from each of the others, in per cent."""


@dataclass(frozen=True)
class Comparison:
    """The first device beside the others."""

    rows: tuple[Row, ...]
    """Layers, then the whole: the mean of all inferences but the first."""
    differing: tuple[str, ...]
    """Devices whose outputs differ from the first one's."""

    def worst(self) -> float | None:
        """The whole's deviation that is farthest from zero."""
        known = [value for value in self.rows[-1].deviations if value is not None]
        return max(known, key=abs, default=None)


def compare(measured: Sequence[Measurement], layers: Sequence[str]) -> Comparison:
    """Layer by layer; where a device does not know its layers there is only the whole."""
    rows = []
    if all(m.layer_cycles is not None and len(m.layer_cycles) == len(layers) for m in measured):
        for index, name in enumerate(layers):
            rows.append(_row(name, [m.layer_cycles[index] for m in measured if m.layer_cycles is not None]))
    rows.append(_row("total", [m.warm_cycles for m in measured]))
    first = measured[0]
    differing = tuple(m.device for m in measured[1:] if m.outputs_sha256 != first.outputs_sha256)
    return Comparison(tuple(rows), differing)


def _row(name: str, cycles: Sequence[float | None]) -> Row:
    ours = cycles[0]
    deviations = [None if ours is None or other is None else deviation(ours, other) for other in cycles[1:]]
    return Row(name, tuple(None if c is None else round(c) for c in cycles), tuple(deviations))
