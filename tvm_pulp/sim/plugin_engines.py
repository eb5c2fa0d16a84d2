"""Engines of a plug-in as its folder tells them, and what a SoC must be told to have the same."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, refuse_if
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


def provided_engines(
    simulator: str, facts: Mapping[str, Any], soc: Soc, folder: str | None, built_in: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Engines of a plug-in, where there is one; a user error where the network runs on one that nobody has."""
    entries = read_engines(Path(folder)) if folder is not None else []
    used = {layer["engine"] for layer in facts["layers"]} & set(soc.engines)
    missing = ", ".join(sorted(used - {entry["name"] for entry in entries} - set(built_in)))
    described = soc.name if soc.name in socs.names() else "FILE"
    make = f"`tvmc plugin {simulator.lower()} --soc {described} -o DIR --build`"
    refuse_if(
        missing and folder is None,
        f"the network runs on {missing}, which {simulator} does not have: make a plug-in with {make} and give "
        "--device-option plugin=DIR",
    )
    refuse_if(
        missing,
        f"--device-option plugin={folder} has no {missing}, which the network runs on: make another with {make}",
    )
    return entries


def parameter_settings(soc: Soc, told: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Settings, where they differ, by which engines of a SoC are told the same as those of a simulator."""
    return {
        f"engines.{name}.parameters.{key}": value
        for name, parameters in told.items()
        if name in soc.engines
        for key, value in parameters.items()
        if soc.engines[name].parameters.get(key) != value
    }
