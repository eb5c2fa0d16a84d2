"""Two reports beside each other: figures of the whole, and layers that have the same name."""

from collections.abc import Mapping
from typing import Any, TextIO

from tvm_pulp.report.figures import figure
from tvm_pulp.report.fitted_table import print_fitted, print_wrapped

# Figures of the whole network that are compared, and their texts.
_FIGURES = {
    "cycles": "cycles",
    "cold_cycles": "cycles of the first inference",
    "estimated_cycles": "estimated cycles",
    "bound_cycles": "bound",
    "macs": "MAC",
    "macs_per_cycle": "MAC/cycle",
    "instructions": "instructions",
    "energy_uj": "energy in µJ",
    "code_bytes": "bytes of code",
}


def compared(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Figures as (name, first, second, ratio), and pairs of layers: places in both reports, None where one has none."""
    figures = [(text, first.get(name), second.get(name)) for name, text in _FIGURES.items()]
    for level in dict.fromkeys((*first["memory"], *second["memory"])):
        peaks = [run["memory"].get(level, {}).get("peak") for run in (first, second)]
        figures.append((f"bytes of {level}", peaks[0], peaks[1]))
    known = [(name, a, b) for name, a, b in figures if a is not None or b is not None]
    return {
        "figures": [[name, a, b, b / a if a and b is not None else None] for name, a, b in known],
        "layers": _pairs([layer["name"] for layer in first["layers"]], [layer["name"] for layer in second["layers"]]),
        "energy_note": _energy_note(first, second),
    }


def _energy_note(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    """How far the two energies can be compared; None where one is not known."""
    models = [run["energy_model"] for run in (first, second) if run.get("energy_model")]
    if len(models) < 2:
        return None
    spreads = [run.get("energy_spread") for run in (first, second)]
    sure = " and ".join("of unknown spread" if s is None else f"± {100 * s:.0f} %" for s in spreads)
    priced = [
        {**m["coefficients_pj"], **{f"spread of {n}": s for n, s in m.get("spreads", {}).items()}} for m in models
    ]
    if all(priced[0][name] == priced[1][name] for name in priced[0].keys() & priced[1].keys()):
        return f"Energies are modelled, {sure}, by the same coefficients: their ratio is surer than either."
    sources = " and ".join(m["source"] for m in models)
    return f"Energies are modelled, {sure}, by different rulers ({sources}): their ratio mixes work and rulers."


def _pairs(first: list[str], second: list[str]) -> list[list[int | None]]:
    """Layers of the same name meet; the others stand where they run."""
    there = {name: place for place, name in enumerate(second)}
    pairs: list[list[int | None]] = []
    shown = 0
    for place, name in enumerate(first):
        partner = there.get(name)
        if partner is not None and partner >= shown:
            pairs += [[None, other] for other in range(shown, partner)]
            pairs.append([place, partner])
            shown = partner + 1
        else:
            pairs.append([place, None])
    return pairs + [[None, other] for other in range(shown, len(second))]


def _change(a: Any, b: Any) -> str:
    return f"{100 * (b - a) / a:+.1f} %" if a and b is not None else "-"


def print_comparison(names: tuple[str, str], first: Mapping[str, Any], second: Mapping[str, Any], out: TextIO) -> None:
    """Two tables: the whole, then the layers."""
    found = compared(first, second)
    whole = [[name, figure(a), figure(b), _change(a, b)] for name, a, b, _ in found["figures"]]
    print_fitted(f"{names[0]} and {names[1]}", ["", *names, "change"], whole, 1, out)
    if found["energy_note"] is not None:
        print_wrapped(found["energy_note"], out)
    rows = []
    for a, b in found["layers"]:
        left = first["layers"][a] if a is not None else {}
        right = second["layers"][b] if b is not None else {}
        shown, cycles = left or right, [layer.get("cycles") for layer in (left, right)]
        engines = [layer.get("engine", "-") for layer in (left, right)]
        rows.append([shown["name"], shown["op"], *engines, *map(figure, cycles), _change(*cycles)])
    first_name, other = names
    pairs = [f"engine of {first_name}", f"of {other}", f"cycles of {first_name}", f"of {other}"]
    print_fitted("layers", ["layer", "op", *pairs, "change"], rows, 4, out)
