"""`tvmc run`: build an archive, run it on a device, show what it cost."""

import argparse
import sys
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.option_values import write_arrays
from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc import dataset, device_options
from tvm_pulp.tvmc.argument import FILE, INPUTS, argument, given_inputs
from tvm_pulp.tvmc.model_options import check_archive

ARGUMENTS = (
    argument("ARCHIVE", help="archive written by `tvmc compile`"),
    argument(
        "--device", metavar="NAME", help="iss, host, gvsoc or another installed one; default: what the archive is for"
    ),
    *device_options.SETTINGS,
    *INPUTS,
    argument("-o", "--outputs", writes=FILE, metavar="F.npz", help="write the outputs under their graph names"),
    argument("--report", writes=FILE, metavar="F.json", help="write the report"),
    argument("--html", writes=FILE, metavar="F.html", help="write the report as one self-contained page"),
    *device_options.INSTRUMENTS,
    argument("--toolchain", metavar="NAME", help="cross compiler of the device: zig (default) or gcc for iss"),
    argument(
        "--max-cycles", type=int, metavar="N", help="end the run after N cycles; default: many times what is expected"
    ),
    *dataset.ARGUMENTS,
    argument("--repeat", type=int, default=1, metavar="N", help="run N times; every answer must be the same"),
)


def run(args: argparse.Namespace) -> int:
    refuse_if(args.repeat < 1, f"--repeat {args.repeat}: must be at least 1")
    refuse_if(
        args.max_cycles is not None and args.max_cycles < 1, f"--max-cycles {args.max_cycles}: must be at least 1"
    )
    check_archive(args.ARCHIVE)
    if args.dataset is not None:
        return dataset.run(args)
    dataset.refuse_without(args)
    inputs = given_inputs(args)
    wanted = device_options.instruments(args)
    settings = device_options.settings(args)
    from tvm_pulp.api import App

    print(f"tvmc run: building and running {args.ARCHIVE}", file=sys.stderr, flush=True)
    app = App.load(args.ARCHIVE)
    if args.html:
        from tvm_pulp.report.html import check_layers

        check_layers(len(app.metadata["tvm_pulp"]["layers"]))
    result = app.run(
        inputs,
        device=args.device,
        repeat=args.repeat,
        instruments=wanted,
        toolchain=args.toolchain,
        max_cycles=args.max_cycles,
        device_options=settings,
    )
    if args.outputs:
        write_arrays(args.outputs, result.outputs)
    if args.report:
        from tvm_pulp.codegen.formats import ReportJson, to_json

        write_output(args.report, to_json(ReportJson, result.report, indent=2))
    if args.html:
        result.to_html(args.html, title=Path(args.ARCHIVE).stem)
    if result.debug:
        print(f"tvmc run: {result.debug}", file=sys.stderr, flush=True)
    from tvm_pulp.report.table import print_report

    print_report(result.report, result.outputs, sys.stdout)
    return 0
