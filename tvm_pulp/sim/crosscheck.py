"""The same program on several simulators: do outputs and cycles agree?

Figures of a simulator that is not at hand are recorded where it is, and compared with where it is not.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvm_pulp import soc
from tvm_pulp.codegen.formats import BaselineJson, from_json, to_json
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import JSON_BYTES
from tvm_pulp.output_files import write_output
from tvm_pulp.sim.runner import declared_statistics

if TYPE_CHECKING:
    from tvm_pulp.app import App


# Figures of a measurement that a file keeps.
_RECORDED = ("elf_sha256", "revision", "cycles", "layer_cycles", "outputs_sha256")


@dataclass(frozen=True)
class Measurement:
    """One device's figures; None is not known."""

    device: str
    elf_sha256: str | None
    revision: str | None
    """Which simulator it was, where it can tell."""
    cycles: list[int] | None
    """Of every inference; the first has empty instruction caches."""
    layer_cycles: list[int] | None
    """Of the last inference."""
    outputs_sha256: str
    seconds: float

    @property
    def warm_cycles(self) -> float | None:
        """The mean of all inferences but the first."""
        if not self.cycles:
            return None
        warm = self.cycles[1:] or self.cycles
        return sum(warm) / len(warm)


def measure(
    app: "App", device: str, inputs: Sequence[np.ndarray], inferences: int, settings: Mapping[str, str]
) -> Measurement:
    """So many inferences from reset on one device."""
    runner = app.runner(device, None, settings)
    refuse_if(
        not runner.capabilities.cycles,
        f"--devices: {device} knows no cycles: choose devices that count them, such as iss and gvsoc",
    )
    runner.load(inputs)
    runner.run(inferences)
    outputs = runner.read_back()
    figures = declared_statistics(runner)
    assert figures.cycles is not None and figures.cold_cycles is not None, "declared"
    return Measurement(
        device=device,
        elf_sha256=_sha256(runner.program()),
        revision=runner.revision(),
        cycles=figures.inference_cycles or [figures.cold_cycles, figures.cycles],
        layer_cycles=figures.layer_cycles or None,
        outputs_sha256=hashlib.sha256(b"".join(array.tobytes() for array in outputs)).hexdigest(),
        seconds=figures.run_seconds,
    )


def as_on_device(app: "App", settings: Mapping[str, Any]) -> "App":
    """The same program for the same SoC, with settings by which it is the machine that a device was found to be."""
    facts = app.metadata["tvm_pulp"]
    described = soc.recorded(facts).with_settings(settings).model_dump(mode="json")
    metadata = {**app.metadata, "tvm_pulp": {**facts, "soc_description": described}}
    return type(app)({**app.files, "metadata.json": json.dumps(metadata).encode()})


@dataclass(frozen=True)
class Row:
    """Cycles of a layer, or of the whole."""

    name: str
    cycles: tuple[int | None, ...]
    """By device, in their order."""
    deviations: tuple[float | None, ...]
    """Of the first device from each of the others, in per cent."""


def _sha256(program: Path | None) -> str | None:
    return hashlib.sha256(program.read_bytes()).hexdigest() if program is not None else None


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
    by_layer = [m.layer_cycles for m in measured if m.layer_cycles is not None and len(m.layer_cycles) == len(layers)]
    rows = [_row(name, [cycles[index] for cycles in by_layer]) for index, name in enumerate(layers)]
    total = _row("total", [m.warm_cycles for m in measured])
    differing = tuple(m.device for m in measured[1:] if m.outputs_sha256 != measured[0].outputs_sha256)
    return Comparison((*(rows if len(by_layer) == len(measured) else ()), total), differing)


def _row(name: str, cycles: Sequence[float | None]) -> Row:
    ours = cycles[0]
    deviations = [None if ours is None or not other else 100 * (ours - other) / other for other in cycles[1:]]
    return Row(name, tuple(None if c is None else round(c) for c in cycles), tuple(deviations))


def read_baseline(path: Path, option: str) -> list[dict[str, Any]]:
    """Runs in the file; a user error where it is none."""
    content = read_input(path, f"{option}: cannot read {path}", JSON_BYTES)
    try:
        return list(from_json(BaselineJson, content)["runs"])
    except ValueError as error:
        raise UserError(f"{option}: {path} is no baseline ({error}): write one with --record") from None


def baseline_runs(path: Path, program: Path | None, preset: str) -> list[dict[str, Any]]:
    """Recorded runs of this very program beside this preset; a user error where there is none."""
    elf_sha256 = _sha256(program)
    runs = read_baseline(path, "--baseline")
    found = [run for run in runs if run["elf_sha256"] == elf_sha256 and run["soc"] == preset]
    refuse_if(
        not found,
        f"--baseline: {path} has no figures of this program for SoC '{preset}': they hold for one ELF only; record it "
        "again with --record where the other simulator is installed",
    )
    return found


def baseline_measurement(run: Mapping[str, Any], inferences: int) -> Measurement:
    """The first inferences of a recorded run; cycles of layers are known of its last one only."""
    made = Measurement(device=f"{run['device']} (recorded)", seconds=0.0, **{name: run[name] for name in _RECORDED})
    if len(run["cycles"]) == inferences:
        return made
    return replace(made, cycles=run["cycles"][:inferences], layer_cycles=None)


def record(
    name: str,
    facts: Mapping[str, Any],
    measured: Measurement,
    settings: Mapping[str, str],
    soc_settings: Mapping[str, Any],
) -> dict[str, Any]:
    """A run as it stands in the file; where an installation lies on this machine is nobody else's matter."""
    kept = {key: value for key, value in settings.items() if key not in ("home", "target_dir", "timeout_s")}
    return {
        "name": name,
        "target": facts["target"],
        "soc": facts["soc"],
        "device": measured.device,
        "device_options": kept,
        **{name: getattr(measured, name) for name in _RECORDED},
        **({"soc_settings": dict(soc_settings)} if soc_settings else {}),
    }


def write_baseline(path: Path, runs: Sequence[Mapping[str, Any]]) -> None:
    """Add runs to a file, in place of those of the same model, target, preset and device."""

    def key(run: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(run[part] for part in ("name", "target", "soc", "device"))

    held = read_baseline(path, "--record") if path.exists() else []
    new = {key(run) for run in runs}
    every = sorted([run for run in held if key(run) not in new] + [dict(run) for run in runs], key=key)
    write_output(path, to_json(BaselineJson, {"runs": every}, indent=1))
