"""Recorded figures of a simulator that is not at hand: written where it is, compared with where it is not."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.codegen.formats import BaselineJson, FormatError, from_json, to_json
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.crosscheck.measure import Measurement


def read_baseline(path: Path, option: str) -> list[dict[str, Any]]:
    """Runs in the file; a user error where it is none."""
    try:
        return list(from_json(BaselineJson, path.read_text(encoding="utf-8"))["runs"])
    except OSError as error:
        raise UserError(f"{option}: cannot read {path}: {error.strerror}") from None
    except (json.JSONDecodeError, FormatError, UnicodeDecodeError) as error:
        raise UserError(f"{option}: {path} is no baseline ({error}): write one with --record") from None


def baseline_measurements(path: Path, elf_sha256: str | None, soc: str) -> list[Measurement]:
    """Recorded runs of this very program beside this preset; a user error where there is none."""
    runs = read_baseline(path, "--baseline")
    found = [run for run in runs if run["elf_sha256"] == elf_sha256 and run["soc"] == soc]
    refuse_if(
        not found,
        f"--baseline: {path} has no figures of this program for SoC '{soc}': they hold for one ELF only; record it "
        "again with --record where the other simulator is installed",
    )
    return [
        Measurement(
            device=f"{run['device']} (recorded)",
            elf_sha256=run["elf_sha256"],
            revision=run["revision"],
            cycles=run["cycles"],
            layer_cycles=run["layer_cycles"],
            outputs_sha256=run["outputs_sha256"],
            seconds=0.0,
        )
        for run in found
    ]


def record(name: str, facts: Mapping[str, Any], measured: Measurement, settings: Mapping[str, str]) -> dict[str, Any]:
    """A run as it stands in the file; where an installation lies on this machine is nobody else's matter."""
    kept = {key: value for key, value in settings.items() if key not in ("home", "target_dir", "timeout_s")}
    return {
        "name": name,
        "target": facts["target"],
        "soc": facts["soc"],
        "elf_sha256": measured.elf_sha256,
        "device": measured.device,
        "device_options": kept,
        "revision": measured.revision,
        "cycles": measured.cycles,
        "layer_cycles": measured.layer_cycles,
        "outputs_sha256": measured.outputs_sha256,
    }


def write_baseline(path: Path, runs: Sequence[Mapping[str, Any]]) -> None:
    """Add runs to a file, in place of those of the same model, target, preset and device."""

    def key(run: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(run[part] for part in ("name", "target", "soc", "device"))

    held = read_baseline(path, "--record") if path.exists() else []
    new = {key(run) for run in runs}
    every = sorted([run for run in held if key(run) not in new] + [dict(run) for run in runs], key=key)
    path.write_text(to_json(BaselineJson, {"runs": every}, indent=1), encoding="utf-8")
