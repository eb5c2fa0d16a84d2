"""Measure through MLonMCU: its command line with our plug-in, one session per machine, networks side by side."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from uma_study.configurations import Configuration
from uma_study.measured import Measured

_REPORT = "report.json"


def measure(models: Mapping[str, Path], configuration: Configuration, home: Path) -> dict[str, Measured]:
    """All networks on one machine; a run that failed ends the study with its reason."""
    label = "".join(c if c.isalnum() else "_" for c in configuration.name)
    settings = [part for name, value in configuration.settings.items() for part in ("-c", f"{name}={value}")]
    command = [sys.executable, "-P", "-m", "tvm_pulp.tvmc.mlonmcu", "flow", "run", *map(str, models.values())]
    command += ["-b", configuration.backend, "-t", configuration.target, *settings, "-l", label, "--parallel", "2"]
    command += ["-c", "run.export_optional=1", "--postprocess", "tvmpulp_validate"]
    environment = {**os.environ, "MLONMCU_HOME": str(home.absolute())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    table = home / "results" / f"{label}.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines())) if table.is_file() else []
    failed = [row["Reason"] for row in rows if row.get("Failing") not in (None, "", "False")]
    if failed or done.returncode != 0 or len(rows) != len(models):
        reason = failed[0] if failed else (done.stderr.strip().splitlines() or ["no table of results"])[-1]
        raise SystemExit(f"study_uma: {configuration.name}: {reason} (without MLonMCU: --directly)")
    runs = home / "temp" / "sessions" / "latest" / "runs"
    return {network: _measured(row, runs / row["Run"]) for network, row in zip(models, rows, strict=True)}


def _measured(row: Mapping[str, str], folder: Path) -> Measured:
    [report] = folder.rglob(_REPORT)
    return Measured(
        round(float(row["Total Instructions"])),
        round(float(row["Total Cycles"])),
        float(row["Simulation Time [s]"]),
        row["Validation"] == "True" and row["Validation Reference"] == "golden",
        json.loads(report.read_text(encoding="utf-8"))["layers"],
    )
