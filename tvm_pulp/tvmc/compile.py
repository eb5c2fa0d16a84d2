"""`tvmc compile`: a model becomes a Model Library Format archive."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.errors import refuse_if
from tvm_pulp.output_files import write_outputs
from tvm_pulp.tvmc.argument import FILE, FOLDER, QUIET, argument
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

if TYPE_CHECKING:
    from tvm_pulp.api import App

_DUMPS = ("relax", "tir", "c")


# Scripts written for Apache TVM's `tvmc` state these options.
_UPSTREAM = "upstream tvmc, for its scripts; there is one value of each, the default"
ARGUMENTS = (
    argument("-o", "--output", writes=FILE, required=True, metavar="FILE.tar", help="archive to write", group="output"),
    argument("--dump-code", default="", metavar="LIST", help="write intermediate forms: relax,tir,c", group="output"),
    argument("--dump-dir", writes=FOLDER, metavar="DIR", help="folder for --dump-code", group="output"),
    QUIET,
    argument(
        "-f",
        "--output-format",
        choices=["mlf"],
        default="mlf",
        help="Model Library Format archive",
        group=_UPSTREAM,
    ),
    argument("--executor", choices=["aot"], default="aot", help="one C function calls all layers", group=_UPSTREAM),
    argument("--runtime", choices=["crt"], default="crt", help="plain C without an operating system", group=_UPSTREAM),
)


def run(args: argparse.Namespace) -> int:
    dumps = [d for d in args.dump_code.split(",") if d]
    for name in dumps:
        refuse_if(name not in _DUMPS, f"--dump-code: '{name}' is unknown: choose from {', '.join(_DUMPS)}")
    refuse_if(bool(dumps) != bool(args.dump_dir), "--dump-code and --dump-dir belong together: give both or none")
    path = Path(args.output)
    options = options_of(args)
    progress = Progress("compile", quiet=args.quiet)
    progress(f"loading the compiler for {args.MODEL}")
    from tvm_pulp.api import compile_with

    with progress:
        app = compile_with(args.MODEL, options, progress)
    app.save(path)
    if dumps:
        _dump(app, dumps, Path(args.dump_dir))
    if not args.quiet:
        if "march" in app.metadata["tvm_pulp"]:
            progress("building the program to see what it takes")
        lines = app.footprint.lines()
        progress(f"wrote {path}: {len(app.metadata['tvm_pulp']['layers'])} layers")
        print(*(f"  {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def _dump(app: "App", dumps: list[str], folder: Path) -> None:
    """Write the wanted forms of every entry point: files of the archive, and the TIR after every pass."""
    suffixes = {"relax": (".relax.txt",), "tir": ("main.tir.txt",), "c": (".c", ".h")}
    wanted = tuple(s for d in dumps for s in suffixes[d])
    from tvm_pulp.planning.tir import LoweredPlan

    assert app.compilation is not None
    compilation = app.compilation
    plans = compilation.plans
    written: dict[str, bytes] = {}
    for name, data in app.files.items():
        top, place = name.split("/")[0], Path(name).name
        if name.endswith(wanted) and top != "runtime":
            written[f"{top}_{place}" if top in plans else place] = data
    for entry, lowered in plans.items():
        before = f"{entry}_" if entry else ""
        if "tir" in dumps and isinstance(lowered, LoweredPlan):
            for number, stage in enumerate(lowered.stages):
                written[f"{before}{number}_{stage.name}.tir.txt"] = stage.function.script().encode()
        if "relax" in dumps and entry:
            origin = lowered.plan.network.origin
            assert origin is not None
            written[f"{before}partitioned.relax.txt"] = origin.module.script().encode()
    write_outputs(folder, written)
