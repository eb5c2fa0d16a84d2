"""Find and read SoC descriptions: the presets beside this file, or any YAML file of the same form."""

import copy
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from tvm_pulp.errors import UserError, meant, refuse_if
from tvm_pulp.input_file import read_input_text
from tvm_pulp.limits import YAML_BYTES
from tvm_pulp.soc.description import Soc
from tvm_pulp.soc.explain_error import explain
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.soc.yaml_text import read_text

_FOLDER = Path(__file__).parent
# The preset that is simulated where none is named.
DEFAULT = "siracusa"
# One compile reads presets dozens of times: texts of so many characters are parsed once.
_REMEMBERED = 1 << 16
# Stands for the preset with the most of this machine's instructions.
NATIVE = "native"


def names() -> list[str]:
    """Names of the presets that ship with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load(name_or_path: str | Path) -> Soc:
    """Read a preset by name or a description file by path."""
    if name_or_path == NATIVE:
        return _native()
    path = _FOLDER / f"{name_or_path}.yaml"
    if str(name_or_path) not in names():
        path = Path(name_or_path)
        if path.suffix not in (".yaml", ".yml"):
            hint = meant(str(name_or_path), names(), f"choose one of {', '.join(names())} or give a YAML file")
            raise UserError(f"unknown SoC '{name_or_path}': {hint}")
    content = read_yaml(path, f"SoC description {path}", "with at least the key 'name'")
    base = content.pop("based_on", None)
    if base is not None:
        refuse_if(
            base not in names(),
            f"SoC description {path}: based_on names '{base}', which is none of {', '.join(names())}",
        )
        content = _merge(load(base).model_dump(), content)
    try:
        return Soc.model_validate(content)
    except ValidationError as error:
        raise UserError(f"SoC description {path}: {explain(error)}") from None


def _native() -> Soc:
    """The preset for this machine that needs the most instructions it has; plain C where there is none."""
    found = [soc for soc in map(load, names()) if soc.cpu is not None and "host" in soc.cpu.devices]
    fitting = [soc for soc in found if soc.cpu is not None and not missing_instructions(soc.cpu)]
    return max(fitting, key=lambda soc: len(soc.cpu.needs) if soc.cpu else 0, default=load("host"))


def recorded(facts: Mapping[str, Any]) -> Soc:
    """The SoC an archive was compiled for: a preset by name, any other by the description the archive carries."""
    content, name = facts.get("soc_description"), facts["soc"]
    if content is None:
        # No file: an archive must not make the compiler read others.
        refuse_if(name not in names(), f"the archive is for SoC '{name}', which this version does not know: recompile")
        return load(name)
    try:
        return Soc.model_validate(content)
    except ValidationError as error:
        raise UserError(f"the archive's description of SoC '{name}' is damaged ({explain(error)}): recompile") from None


def description_to_record(soc: Soc) -> dict[str, Any] | None:
    """The record in an archive by which `recorded` finds the SoC again; None for a preset as it ships."""
    return None if soc.name in names() and load(soc.name) == soc else soc.model_dump(mode="json")


def read_yaml(path: Path, what: str, keys: str) -> dict[str, Any]:
    """The mapping in a file; a user error names the file as `what` where it holds none."""
    text = read_input_text(path, f"cannot read {what}", YAML_BYTES)
    try:
        content = copy.deepcopy(_known_text(text)) if len(text) <= _REMEMBERED else read_text(text)
    except yaml.YAMLError as error:
        raise UserError(f"{what} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UserError(f"{what} must be a mapping {keys}")
    return content


_known_text = functools.lru_cache(maxsize=64)(read_text)


def _merge(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if value is None and isinstance(base.get(key), dict | int):
            del merged[key]  # `neureka:` with nothing behind it: the new SoC has none
        else:
            merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
