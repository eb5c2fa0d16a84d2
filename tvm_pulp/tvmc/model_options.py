"""Options of every verb that reads a model, made from the table of options."""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.compile_options import DEFAULTS, OPTIONS, ZOO, CompileOptions, check_exists, model_files
from tvm_pulp.engine_names import check_targets
from tvm_pulp.errors import refuse_if
from tvm_pulp.input_file import check_input_file, is_absent, is_folder
from tvm_pulp.tvmc.argument import Argument, argument


def model_arguments(verb: str) -> Iterator[Argument]:
    """MODEL and everything that can be said about it and its target."""
    yield argument("MODEL", help=f"model file ({model_files()}), or zoo:NAME")
    for name, option in OPTIONS.items():
        if not option.flag or verb not in option.verbs:
            continue
        told: dict[str, Any] = {"type": option.parse, "metavar": option.metavar}
        if isinstance(DEFAULTS[name], bool):
            told = {"action": "store_const", "const": not DEFAULTS[name]}
        elif option.repeats:
            told["action"] = "append"
        yield argument(option.flag, group=option.group, dest=name, help=option.full_help, **told)


def options_of(args: argparse.Namespace, **more: Any) -> CompileOptions:
    """The compile options that the arguments state, and more that a verb states itself."""
    # Said before the compiler is loaded, which takes seconds.
    if not args.MODEL.startswith(ZOO):
        check_exists(Path(args.MODEL))
    if getattr(args, "target", None) is not None:
        check_targets(args.target)
    if args.MODEL.startswith(ZOO):
        from tvm_pulp.frontend.zoo.catalog import check_name

        check_name(args.MODEL.removeprefix(ZOO))
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
        refuse_if(match[3] is None and not queue, f"{argument} needs a value")
        value = match[3] if match[3] is not None else queue.pop(0)
        options.setdefault(match[1], {})[match[2]] = value
    return rest, options


def check_archive(path: str) -> None:
    """Raise where there is no archive, before anything is loaded."""
    made = f"`tvmc compile MODEL -o {path}` writes it"
    refuse_if(is_absent(path), f"archive '{path}' does not exist: {made}")
    refuse_if(is_folder(path), f"'{path}' is a folder, not an archive: {made}")
    check_input_file(path, f"archive '{path}' cannot be read")
