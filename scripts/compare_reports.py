"""Print two runs of the same network side by side; fail unless their outputs are equal.

python scripts/compare_reports.py FIRST SECOND      reads FIRST.json, FIRST.npz, SECOND.json, SECOND.npz
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.codegen.formats import ReportJson, from_json
from tvm_pulp.report.energy import energy_text


def read(stem: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Report and outputs of a run."""
    with np.load(f"{stem}.npz") as arrays:
        outputs = {name: arrays[name] for name in arrays.files}
    return from_json(ReportJson, Path(f"{stem}.json").read_text(encoding="utf-8")), outputs


def compare(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Lines of a table: layers of the first report beside those of the same name in the second."""
    lines = [f"{'layer':20} {'engine':10} {'cycles':>10} {'cluster alone':>14} {'faster':>8}"]
    others = {layer["name"]: layer for layer in second["layers"]}
    for layer in first["layers"]:
        other = others.get(layer["name"])
        alone = f"{other['cycles']:>14,} {other['cycles'] / max(1, layer['cycles']):>7.1f}x" if other else f"{'-':>14}"
        lines.append(f"{layer['name'][:20]:20} {layer['engine']:10} {layer['cycles']:>10,} {alone}")
    speed = second["cycles"] / first["cycles"]
    lines.append(f"{'total':20} {'':10} {first['cycles']:>10,} {second['cycles']:>14,} {speed:>7.1f}x")
    return lines


def main(first_stem: str, second_stem: str) -> int:
    """Compare; the exit status says whether the outputs are equal."""
    (first, first_outputs), (second, second_outputs) = read(first_stem), read(second_stem)
    print("\n" + "\n".join(compare(first, second)))
    equal = all(np.array_equal(array, second_outputs[name]) for name, array in first_outputs.items())
    energy = " and ".join(energy_text(run["energy_uj"], run["energy_spread"]) for run in (first, second))
    print(f"\nenergy about {energy}; outputs {'equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
