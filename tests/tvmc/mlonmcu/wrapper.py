"""Run the wrapper as a user does, and read the report it leaves."""

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    """A folder for an environment of its own."""

    home: Path

    def run(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """`tvmpulp-mlonmcu ARGUMENTS`; nothing of the user's configuration of MLonMCU takes part."""
        command = [sys.executable, "-P", "-m", "tvm_pulp.tvmc.mlonmcu", *arguments]
        environment = {
            **os.environ,
            "MLONMCU_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home.parent / "config"),
            # Whoever asks for something that is not on this machine is told so at once.
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }
        cwd = cwd or self.home.parent
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd)

    def report(self, label: str) -> list[dict[str, str]]:
        """Rows of a session's report."""
        with (self.home / "results" / f"{label}.csv").open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    def file(self, run: int, name: str) -> Path:
        """A file of a run of the last session."""
        return self.home / "temp" / "sessions" / "latest" / "runs" / str(run) / name


def number(row: dict[str, str], column: str) -> int:
    """A figure; one failed row makes MLonMCU write all of a column as floats."""
    return round(float(row[column]))
