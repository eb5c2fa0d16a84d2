"""Options of a device and of its simulation: where it is installed, which target runs, what shows what happens."""

import argparse
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.tvmc.argument import FILE, argument

SETTINGS = (
    argument(
        "--device-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the device, as often as wanted; `tvmc targets` lists them",
    ),
)


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Values by name; the device checks the names."""
    found: dict[str, str] = {}
    for text in args.device_option:
        name, equals, value = text.partition("=")
        refuse_if(not equals or not name or not value, f"--device-option {text}: write NAME=VALUE")
        found[name] = value
    return found


INSTRUMENTS = (
    argument("--trace", writes=FILE, metavar="FILE", help="write a timeline: JSON for *.json, else Perfetto's format"),
    argument("--gdb", type=int, metavar="PORT", help="wait for GDB on this port of 127.0.0.1; 0: any"),
    argument("--log-calls", action="store_true", help="print every call and return with its cycle"),
    argument("--profile", writes=FILE, metavar="F.json", help="write cycles of functions by cause for speedscope"),
    argument("--check-reads", action="store_true", help="report reads of L1 and L2 bytes nobody wrote"),
)


def instruments(args: argparse.Namespace) -> Instruments:
    """The instruments that were asked for."""
    refuse_if(
        args.gdb is not None and not 0 <= args.gdb < 1 << 16,
        f"--gdb {args.gdb}: give a port from 0 (any free one) to 65535",
    )
    trace, profile = (Path(name) if name else None for name in (args.trace, args.profile))
    return Instruments(trace, args.gdb, args.log_calls, profile, args.check_reads)
