"""Options of `run` and `sim` that show what happens in a simulation."""

import argparse
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.model_options import check_writable

ARGUMENTS = (
    argument("--trace", metavar="FILE", help="write a timeline: JSON for *.json, else Perfetto's format"),
    argument("--gdb", type=int, metavar="PORT", help="wait for GDB on this port of 127.0.0.1; 0: any"),
    argument("--log-calls", action="store_true", help="print every call and return with its cycle"),
    argument("--profile", metavar="F.json", help="write cycles of functions by cause for speedscope"),
    argument("--check-reads", action="store_true", help="report reads of L1 and L2 bytes nobody wrote"),
)


def instruments(args: argparse.Namespace) -> Instruments:
    """The instruments that were asked for; files must be writable."""
    if args.gdb is not None and not 0 <= args.gdb < 1 << 16:
        raise UserError(f"--gdb {args.gdb}: give a port from 0 (any free one) to 65535")
    files: dict[str, Path | None] = {"trace": None, "profile": None}
    for name in files:
        path = getattr(args, name)
        if path:
            files[name] = check_writable(path, f"--{name}")
    return Instruments(gdb=args.gdb, log_calls=args.log_calls, check_reads=args.check_reads, **files)
