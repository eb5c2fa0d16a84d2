"""Configuration keys of the backends: what they are called on the command line of `tvmc compile`, and their checks."""

from collections.abc import Mapping
from typing import Any

from tvm_pulp.compile_options import DEFAULTS, OPTIONS
from tvm_pulp.errors import meant, refuse_if
from tvm_pulp.tvmc.mlonmcu import names

# Keys of every backend with the name of their option; `tvmpulp.<key>` sets them for all backends at once.
_KEYS = {
    option.flag.removeprefix("--") if option.repeats else name: name
    for name, option in OPTIONS.items()
    if option.in_mlonmcu
}
# A switch: outputs that no golden data states are computed by numpy.
REFERENCE = "reference"
ACCELERATORS = "accelerators"

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def common_defaults() -> dict[str, Any]:
    """Keys of every backend; None is not stated."""
    return {**dict.fromkeys(_KEYS), REFERENCE: None}


def engine_defaults(engine: str | None) -> dict[str, Any]:
    """Keys of the backend of an engine, called as its options; none without an engine."""
    from tvm_pulp.uma import registry

    return dict.fromkeys(n for b in registry.backends() if b.target_name == engine for n in b.attributes)


def switch(key: str, value: object) -> bool:
    """A value of the command line, or of the environment's file, as a truth value."""
    text = str(value).lower()
    refuse_if(text not in (*_TRUE, *_FALSE), f"configuration {key}={value}: say {_TRUE[0]} or {_FALSE[0]}")
    return text in _TRUE


def compile_arguments(config: Mapping[str, Any], engine: str | None) -> list[str]:
    """The configuration of a backend as options of `tvmc compile`."""
    arguments: list[str] = []
    for key, name in _KEYS.items():
        option, value = OPTIONS[name], config.get(key)
        if value is None:
            continue
        if isinstance(DEFAULTS[name], bool):
            arguments += [option.flag] if switch(key, value) != DEFAULTS[name] else []
        else:
            # What may be given several times is separated by commas.
            parts = filter(None, str(value).split(",")) if option.repeats else [str(value)]
            arguments += [text for part in parts for text in (option.flag, part)]
    for key in engine_defaults(engine):
        if config.get(key) is not None:
            arguments += [f"--target-uma-{engine}-{key}", str(config[key])]
    return arguments


def check_keys(config: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> None:
    """A key of ours that no component has would be ignored in silence: it is a user error."""
    for name in config:
        component, dot, key = name.partition(".")
        if not dot or not component.startswith(names.FRAMEWORK):
            continue
        refuse_if(
            component not in known, f"configuration '{name}': there is no '{component}': {_meant(component, known)}"
        )
        refuse_if(
            key not in known[component],
            f"configuration '{name}': '{component}' has no '{key}': {_meant(key, known[component])}",
        )


def _meant(name: str, known: Mapping[str, Any]) -> str:
    return meant(name, known, f"choose from {', '.join(sorted(known)) or 'nothing'}")
