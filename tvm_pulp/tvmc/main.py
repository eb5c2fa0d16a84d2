"""`tvmc`: the command line. One module per verb; a verb's module is imported only when it is used."""

import argparse
import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tvm_pulp import __version__
from tvm_pulp.errors import Note, UserError, refuse_if
from tvm_pulp.garbage_collection import rare_garbage_collection
from tvm_pulp.option import MODEL_VERBS
from tvm_pulp.tvmc.argument import Argument, add_arguments
from tvm_pulp.tvmc.failures import run_to_end
from tvm_pulp.tvmc.interrupt import interruptible
from tvm_pulp.tvmc.limits_of_process import check_limits
from tvm_pulp.tvmc.outputs import check_outputs
from tvm_pulp.tvmc.quick_process import quick_process
from tvm_pulp.tvmc.standard_streams import prepare_streams

# verb -> what it does. The module `tvm_pulp.tvmc.<verb>` offers `ARGUMENTS`, often an `EPILOG`, and `run(args) -> int`.
VERBS = {
    "quantize": "make an int8 model of a float one, and say what that costs",
    "compile": "compile a model to a Model Library Format archive of bare-metal C",
    "build": "build the bare-metal ELF of an archive",
    "run": "build an archive and run it on a device",
    "crosscheck": "run the same program on several devices and compare outputs and cycles",
    "compare": "show two reports of runs side by side",
    "verify": "compare every layer on the device with its framework",
    "generate": "continue a prompt with a compiled language model",
    "explain": "show node by node what the compiler does and why",
    "uma": "write the package of a new accelerator",
    "plugin": "write accelerator models as components of another simulator",
    "plan": "print the deployment plan and draw memories over time",
    "targets": "list SoCs, engines and their options; --operators: who runs what",
    "zoo": "list the built-in models with their inputs and sizes",
    "sweep": "run a study of many models, machines and targets into one table",
    "sim": "run any bare-metal ELF on a simulated SoC",
    "doctor": "show compilers, simulators, extras and the build cache of this machine",
}


class _Parser(argparse.ArgumentParser):
    """Argument errors are user errors: one sentence, exit status 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UserError(f"{message} (see `{self.prog} --help`)")


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser of a verb, made from the list of its arguments."""
    epilog = getattr(importlib.import_module(f"tvm_pulp.tvmc.{verb}"), "EPILOG", "")
    if verb in MODEL_VERBS:
        epilog += " Engines have options of their own: --target-uma-<engine>-<option> VALUE (see `tvmc targets`)."
    parser = _Parser(prog=f"tvmc {verb}", description=VERBS[verb], epilog=epilog, allow_abbrev=False)
    add_arguments(parser, arguments_of(verb))
    return parser


def arguments_of(verb: str) -> tuple[Argument, ...]:
    """All arguments of a verb, those of models included."""
    own: tuple[Argument, ...] = importlib.import_module(f"tvm_pulp.tvmc.{verb}").ARGUMENTS
    if verb not in MODEL_VERBS:
        return own
    from tvm_pulp.tvmc.model_options import model_arguments

    return (*model_arguments(verb), *own)


def parse(verb: str, arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments of a verb; options of engines beside them."""
    engine_options: dict[str, dict[str, str]] = {}
    if verb in MODEL_VERBS:
        from tvm_pulp.tvmc.model_options import split_engine_options

        arguments, engine_options = split_engine_options(arguments)
    given = list(arguments)
    args = parser_of(verb).parse_args(arguments)
    args.engine_options = engine_options
    check_outputs(arguments_of(verb), args, given)
    return args


def _overview() -> str:
    lines = ["usage: tvmc VERB ... | --version", "", "Compile quantized networks to bare-metal C and run them.", ""]
    lines += [f"  {verb:10} {text}" for verb, text in VERBS.items()]
    return "\n".join([*lines, "", "`tvmc VERB --help` explains one verb."])


def versions() -> str:
    """Our version, and those of what decides what comes out."""
    from tvm_pulp.plug_ins import installed_version

    packages = ("apache-tvm", "onnx", "tflite", "ortools", "ziglang")
    known = [f"{package} {installed_version(package) or 'is not installed'}" for package in packages]
    return "\n".join([f"tvm_pulp {__version__}", f"Python {sys.version.split()[0]}", *known])


def _show_warning(verb: str, otherwise: Callable[..., None], message: Any, category: Any, *rest: Any) -> None:
    """Print our notes as the command line prints other sentences."""
    if isinstance(message, Note):
        print(f"tvmc {verb}: {message}", file=sys.stderr)
    else:
        otherwise(message, category, *rest)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit status: 0, 2 for a user error, 1 for a wrong answer; another bug raises.

    Ctrl-C leaves with 130, SIGTERM with 143.
    """
    if argv is None:
        prepare_streams()
        quick_process()
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    return run_to_end(verb, partial(_run, verb, rest), whole_process=argv is None)


def _run(verb: str, rest: list[str]) -> int:
    if verb in ("-h", "--help"):
        print(_overview())
        return 0
    if verb == "--version":
        print(versions())
        return 0
    check_limits()
    refuse_if(verb not in VERBS, f"unknown verb '{verb}': choose one of {', '.join(VERBS)}")
    with (
        interruptible(f"tvmc {verb}: interrupted", f"tvmc {verb}: terminated"),
        warnings.catch_warnings(),
        rare_garbage_collection(),
    ):
        warnings.showwarning = partial(_show_warning, verb, warnings.showwarning)
        warnings.simplefilter("default", Note)
        return int(importlib.import_module(f"tvm_pulp.tvmc.{verb}").run(parse(verb, rest)))


if __name__ == "__main__":
    sys.exit(main())
