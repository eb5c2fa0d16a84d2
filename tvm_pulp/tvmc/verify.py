"""`tvmc verify`: every layer on the device beside what the model's own framework computes."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.option_values import read_arrays
from tvm_pulp.tvmc.model_options import add_model_arguments, options_of
from tvm_pulp.tvmc.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, "verify")
    parser.add_argument("-i", "--inputs", metavar="F.npz", help="input arrays; default: seeded random values")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def run(args: argparse.Namespace) -> int:
    inputs = dict(read_arrays(args.inputs, "--inputs")) if args.inputs else None
    options = options_of(args)
    progress = Progress("verify", quiet=args.quiet)
    progress(f"loading the compiler for {args.MODEL}")
    from tvm_pulp import api
    from tvm_pulp.option import ModelKind
    from tvm_pulp.report.verify import print_table

    with progress:
        if options.state or api.Compilation(args.MODEL, options).kind in ModelKind.DECODER:
            raise UserError(
                "verify compares networks, whose results depend on their inputs alone: a language model and --state "
                "keep a cache between calls; verify the exported model without --state"
            )
        app = api.compile_with(args.MODEL, replace(options, keep_layers=True), progress)
        progress("building and running")
        result = app.run(inputs, layers=True)
        progress("comparing")
        table = result.compare()
    print_table(table, sys.stdout)
    if table.first_wrong is None:
        return 0
    print(f"tvmc verify: {table.sentence}", file=sys.stderr)
    return 1
