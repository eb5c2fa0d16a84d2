"""Configuration keys of the backends: what they are called on the command line of `tvmc compile`, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.mlonmcu import names

# Keys of every backend with the option of `tvmc compile`; `tvmpulp.<key>` sets them for all backends at once.
_VALUES = {
    "l1": "--l1",
    "l2": "--l2",
    "cores": "--cores",
    "planner": "--planner",
    "io": "--io",
    "pin": "--pin",
}
# Switches: key -> (the value that is the default, the option that says the other).
_SWITCHES = {
    "double_buffer": (True, "--no-double-buffer"),
    "debug": (False, "--debug"),
}
# Whether outputs that no golden data states are computed by numpy.
REFERENCE = "reference"
ACCELERATORS = "accelerators"

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def common_defaults() -> dict[str, Any]:
    """Keys of every backend; None is not stated."""
    return {**dict.fromkeys([*_VALUES, *_SWITCHES]), REFERENCE: None}


def engine_defaults(engine: str) -> dict[str, Any]:
    """Keys of the backend of an engine, called as its options."""
    from tvm_pulp.uma import registry

    return dict.fromkeys(registry.backend(engine).attributes)


def switch(key: str, value: object) -> bool:
    """A value of the command line, or of the environment's file, as a truth value."""
    text = str(value).lower()
    if text not in (*_TRUE, *_FALSE):
        raise UserError(f"configuration {key}={value}: say {_TRUE[0]} or {_FALSE[0]}")
    return text in _TRUE


def compile_arguments(config: Mapping[str, Any], engine: str | None) -> list[str]:
    """The configuration of a backend as options of `tvmc compile`."""
    arguments: list[str] = []
    for key, option in _VALUES.items():
        if config.get(key) is not None:
            arguments += [part for value in _several(key, config[key]) for part in (option, value)]
    for key, (default, option) in _SWITCHES.items():
        if config.get(key) is not None and switch(key, config[key]) != default:
            arguments.append(option)
    for key in engine_defaults(engine) if engine is not None else ():
        if config.get(key) is not None:
            arguments += [f"--target-uma-{engine}-{key}", str(config[key])]
    return arguments


def _several(key: str, value: object) -> list[str]:
    """Pins are separated by commas; everything else is one value."""
    return [part for part in str(value).split(",") if part] if key == "pin" else [str(value)]


def check_keys(config: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> None:
    """A key of ours that no component has would be ignored in silence: it is a user error."""
    for name in config:
        component, dot, key = name.partition(".")
        if not dot or not component.startswith(names.FRAMEWORK):
            continue
        if component not in known:
            raise UserError(f"configuration '{name}': there is no '{component}': {_meant(component, known)}")
        if key not in known[component]:
            raise UserError(f"configuration '{name}': '{component}' has no '{key}': {_meant(key, known[component])}")


def _meant(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(sorted(known)) or 'nothing'}"
