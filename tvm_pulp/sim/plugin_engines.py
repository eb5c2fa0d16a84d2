"""Engines of a plug-in as its folder tells them, and what a SoC must be told to have the same."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.soc.description import Soc


def read_engines(folder: Path) -> list[dict[str, Any]]:
    """Entries of engines.json; a user error where the folder is no plug-in."""
    try:
        entries: list[dict[str, Any]] = json.loads((folder / "engines.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        raise UserError(
            f"--device-option plugin={folder}: engines.json is not there: make the folder with `tvmc plugin`"
        ) from None
    return entries


def read_parameters(folder: Path) -> dict[str, dict[str, int]]:
    """Parameters of a plug-in's engines by name."""
    return {entry["name"]: entry["parameters"] for entry in read_engines(folder)}


def parameter_settings(soc: Soc, told: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Settings, where they differ, by which engines of a SoC are told the same as those of a simulator."""
    return {
        f"engines.{name}.parameters.{key}": value
        for name, parameters in told.items()
        if name in soc.engines
        for key, value in parameters.items()
        if soc.engines[name].parameters.get(key) != value
    }
