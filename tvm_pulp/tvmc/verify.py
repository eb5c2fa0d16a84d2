"""`tvmc verify`: every layer on the device beside what the model's own framework computes."""

import argparse
import sys
from dataclasses import replace

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.argument import INPUTS, QUIET, given_inputs
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

ARGUMENTS = (
    *INPUTS,
    QUIET,
)


def run(args: argparse.Namespace) -> int:
    inputs = given_inputs(args)
    options = options_of(args)
    progress = Progress("verify", quiet=args.quiet)
    progress(f"loading the compiler for {args.MODEL}")
    from tvm_pulp import api
    from tvm_pulp.option import ModelKind
    from tvm_pulp.report.verify import print_table

    with progress:
        refuse_if(
            options.state or api.Compilation(args.MODEL, options).kind in ModelKind.DECODER,
            "verify compares networks, whose results depend on their inputs alone: a language model and --state "
            "keep a cache between calls; verify the exported model without --state",
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
