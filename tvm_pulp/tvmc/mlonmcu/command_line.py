"""`tvmpulp-mlonmcu`: MLonMCU's command line with the plug-in, in an environment that is made where there is none.

    tvmpulp-mlonmcu flow run resnet8 -b tvmpulp_c -t TARGET -H DIR

The environment is that of `-H`, else $MLONMCU_HOME, else the one in the working directory, else one in the cache of
tvm_pulp. MLonMCU builds its parser before it loads extensions, so that the plug-in is registered here, before it.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.tvmc.mlonmcu.environment import FILE, ensure_environment
from tvm_pulp.tvmc.mlonmcu.register import import_mlonmcu, register

_HOME = "MLONMCU_HOME"
# Commands of MLonMCU that make or list environments themselves.
_WITHOUT_ENVIRONMENT = ("init", "env")
_HINT = "see `tvmpulp-mlonmcu flow --list-targets` and docs/mlonmcu.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Forward to `mlonmcu`; exit status 1 when a run failed, 2 for a user error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        import_mlonmcu()
        register()
        return _forward(arguments)
    except UserError as error:
        _say(str(error))
        return 2


def _forward(arguments: list[str]) -> int:
    from mlonmcu.cli.main import main as mlonmcu

    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if command is not None and command not in _WITHOUT_ENVIRONMENT:
        folder = chosen_environment(arguments)
        if ensure_environment(folder):
            _say(f"the environment is {folder}: results go to {folder / 'results'}")
        os.environ[_HOME] = str(folder)
    try:
        return int(mlonmcu(arguments or ["--help"]) or 0)
    except (AssertionError, RuntimeError) as error:
        # What MLonMCU says about a wrong name while it sets up the runs; with -v, where.
        if "-v" in arguments or "--verbose" in arguments or not str(error):
            raise
        _say(f"{' '.join(str(error).split())}; {_HINT}")
        return 2


def chosen_environment(arguments: Sequence[str]) -> Path:
    """The folder that `-H`, the variable or the working directory names; else one of ours."""
    from tvm_pulp.toolchain.cache import cache_directory

    for position, argument in enumerate(arguments):
        if argument in ("-H", "--home", "--hint"):
            refuse_if(position + 1 == len(arguments), f"{argument} needs a folder")
            return Path(arguments[position + 1]).absolute()
        for start in ("--home=", "--hint="):
            if argument.startswith(start):
                return Path(argument.removeprefix(start)).absolute()
    stated = os.environ.get(_HOME)
    if stated:
        return Path(stated).absolute()
    return Path.cwd() if Path(FILE).is_file() else cache_directory() / "mlonmcu"


def _say(text: str) -> None:
    sys.stderr.write(f"tvmpulp-mlonmcu: {text}\n")
    sys.stderr.flush()
