"""Options of every verb that reads a model, made from the table of options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.compile_options import DEFAULTS, OPTIONS, CompileOptions
from tvm_pulp.errors import UserError


def add_model_arguments(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare MODEL and everything that can be said about it and its target."""
    parser.add_argument("MODEL", help="model file (.onnx, .tflite, .pt2) or zoo:NAME")
    groups: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        if not option.flag or verb not in option.verbs:
            continue
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        default = DEFAULTS[name]
        how: dict[str, Any] = {"type": option.parse, "metavar": option.metavar}
        if isinstance(default, bool):
            how = {"action": "store_const", "const": not default}
        elif option.repeats:
            how["action"] = "append"
        groups[option.group].add_argument(option.flag, dest=name, help=option.full_help, **how)
    parser.epilog = "Engines have options of their own: --target-uma-<engine>-<option> VALUE (see `tvmc targets`)."
    parser.allow_engine_options = True  # type: ignore[attr-defined]


def options_of(args: argparse.Namespace, **more: Any) -> CompileOptions:
    """The compile options that the arguments state, and more that a verb states itself."""
    given = {name: getattr(args, name, None) for name, option in OPTIONS.items() if option.flag}
    stated: dict[str, Any] = {
        name: dict(value) if OPTIONS[name].repeats else value for name, value in given.items() if value is not None
    }
    return CompileOptions(engine_options=args.engine_options, **stated, **more)


def split_engine_options(arguments: Sequence[str]) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Take `--target-uma-<engine>-<option> VALUE` (or `=VALUE`) out of the arguments."""
    rest: list[str] = []
    options: dict[str, dict[str, str]] = {}
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        match = re.fullmatch(r"--target-uma-([a-z0-9_]+)-([a-z0-9_]+)(?:=(.*))?", argument)
        if not match:
            rest.append(argument)
            continue
        if match[3] is None and not queue:
            raise UserError(f"{argument} needs a value")
        value = match[3] if match[3] is not None else queue.pop(0)
        options.setdefault(match[1], {})[match[2]] = value
    return rest, options


def check_writable(path: str, option: str) -> Path:
    """Fail before the work, not after it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise UserError(f"{option}: folder '{target.parent}' does not exist")
    if target.is_dir():
        raise UserError(f"{option}: '{target}' is a folder; name a file")
    return target
