"""`tvmc compile`: a model becomes a Model Library Format archive."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.model_options import add_model_arguments, check_writable, options_of, read_arrays
from tvm_pulp.tvmc.progress import Progress

if TYPE_CHECKING:
    from tvm_pulp.api import App

_DUMPS = ("relax", "tir", "c")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.tar", help="archive to write")
    parser.add_argument("-f", "--output-format", choices=["mlf"], default="mlf")
    parser.add_argument("--executor", choices=["aot"], default="aot")
    parser.add_argument("--runtime", choices=["crt"], default="crt")
    parser.add_argument("--dump-code", default="", metavar="LIST", help="write intermediate forms: relax,tir,c")
    parser.add_argument("--dump-dir", metavar="DIR", help="folder for --dump-code")
    parser.add_argument(
        "--debug",
        action="store_true",
        help="check at run time what each layer makes of a sample input, and the bytes between buffers: the first "
        "wrong layer is named",
    )
    parser.add_argument(
        "--debug-inputs", metavar="F.npz", help="the sample input; default: the seeded values that `tvmc run` takes"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def run(args: argparse.Namespace) -> int:
    dumps = [d for d in args.dump_code.split(",") if d]
    for name in dumps:
        if name not in _DUMPS:
            raise UserError(f"--dump-code: '{name}' is unknown: choose from {', '.join(_DUMPS)}")
    if bool(dumps) != bool(args.dump_dir):
        raise UserError("--dump-code and --dump-dir belong together: give both or none")
    path = check_writable(args.output, "-o")
    if args.debug_inputs and not args.debug:
        raise UserError("--debug-inputs has no effect without --debug: give both or none")
    arrays = read_arrays(args.debug_inputs, "--debug-inputs") if args.debug_inputs else ()
    options = replace(options_of(args), debug=args.debug, debug_inputs=arrays)
    progress = Progress("compile", quiet=args.quiet)
    progress(f"loading the compiler for {args.MODEL}")
    from tvm_pulp.api import compile_with

    with progress:
        app = compile_with(args.MODEL, options, progress)
    app.save(path)
    if dumps:
        _dump(app, dumps, Path(args.dump_dir))
    memory = app.metadata["memory"]
    progress(
        f"wrote {path}: {len(app.metadata['tvm_pulp']['layers'])} layers, {app.metadata['tvm_pulp']['macs']} MAC, "
        f"constants {memory['constants_bytes']} bytes, arena {memory['arena_bytes']} bytes "
        f"(largest live set {memory['largest_live_set_bytes']})"
    )
    return 0


def _dump(app: App, dumps: list[str], folder: Path) -> None:
    """Copy the wanted forms out of the archive; the TIR after every pass as well."""
    suffixes = {"relax": (".relax.txt",), "tir": ("main.tir.txt",), "c": (".c", ".h")}
    wanted = tuple(s for d in dumps for s in suffixes[d])
    written = {
        Path(name).name: data
        for name, data in app.files.items()
        if name.endswith(wanted) and not name.startswith("runtime/")
    }
    if "tir" in dumps:
        for number, stage in enumerate(app.tir_stages):
            written[f"{number}_{stage.name}.tir.txt"] = stage.function.script().encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in written.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise UserError(f"--dump-dir: cannot write into '{folder}': {error.strerror}") from None
