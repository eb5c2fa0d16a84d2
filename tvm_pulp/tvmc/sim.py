"""`tvmc sim`: run any bare-metal ELF on a simulated SoC."""

import argparse
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.errors import refuse_if
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import MEMORY_BYTES
from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc import device_options
from tvm_pulp.tvmc.argument import FILE, argument

if TYPE_CHECKING:
    from tvm_pulp.sim.iss import Machine
    from tvm_pulp.sim.iss.attach import Attached

_LARGEST_EXIT, _FAULT = 125, 127


def _positive(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of cycles")
    return value


ARGUMENTS = (
    argument("elf", metavar="ELF", help="bare-metal RV32 executable"),
    argument("--soc", metavar="NAME", help="SoC preset or description file"),
    argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="change a value of the SoC description, e.g. memory.l1.conflicts=false",
    ),
    argument("--l3", metavar="FILE", help="contents of L3 at the start"),
    argument("--model", action="append", default=[], metavar="ENGINE=FILE", help="simulation model to use"),
    argument("--report", writes=FILE, metavar="F.json", help="write counters as JSON"),
    *device_options.INSTRUMENTS,
    argument("--max-cycles", type=_positive, metavar="N", help="stop with a fault after N cluster cycles"),
)


def run(args: argparse.Namespace) -> int:
    """Run the program; its exit value is ours."""
    import tvm_pulp.soc
    from tvm_pulp.sim.iss import Machine
    from tvm_pulp.sim.iss.attach import Attached

    wanted = device_options.instruments(args)
    soc = tvm_pulp.soc.load(args.soc or tvm_pulp.soc.DEFAULT).with_settings(
        dict(_pair(text, "--set") for text in args.settings)
    )
    models = {name: str(path) for name, path in (_pair(text, "--model") for text in args.model)}
    with Machine(soc, models=models, observe=bool(wanted.wanted()), check_reads=wanted.check_reads) as machine:
        machine.load_elf(args.elf)
        if args.l3:
            machine.load_l3(0, read_input(args.l3, f"cannot read {args.l3}", MEMORY_BYTES))
        attached = Attached(machine, wanted, _say, Path(args.elf).name)
        with closing(attached):
            return _run(machine, attached, args)


def _run(machine: "Machine", attached: "Attached", args: argparse.Namespace) -> int:
    """Run what is loaded, show what it says, and write what was asked for."""
    from tvm_pulp.sim.iss import RunFault

    fault: RunFault | None = None
    try:
        result = machine.run(args.max_cycles)
    except RunFault as error:
        fault, result = error, error.result
    sys.stdout.write(result.stdout)
    sys.stdout.flush()
    if args.report:
        told = {"soc": machine.soc.name, "elf": str(args.elf)}
        report = {**told, **result.report(), "fault": str(fault) if fault else None}
        write_output(args.report, json.dumps(report, indent=1) + "\n")
    attached.finish(result)
    if result.races:
        _say(f"{result.races} race(s) with a running accelerator, first: {result.first_race}")
    if fault:
        _say(f"guest fault after {result.cycles} cycles: {fault}")
        return _FAULT
    _say(f"{result.cycles} cycles, {result.instructions} instructions, {result.mips:.0f} MIPS")
    if result.exit_code > _LARGEST_EXIT:
        _say(f"guest exit value {result.exit_code} is reported as {_LARGEST_EXIT}")
    return min(result.exit_code, _LARGEST_EXIT)


def _say(text: str) -> None:
    """Write to stderr: the guest's prints own stdout."""
    print(f"tvmc sim: {text}", file=sys.stderr)


def _pair(text: str, option: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    refuse_if(not equals or not key, f"{option} {text}: write it as key=value")
    return key, _number(value) if option == "--set" else value


def _number(text: str) -> object:
    """Hexadecimal as an int; everything else as text that the description's types interpret."""
    try:
        return int(text, 0)
    except ValueError:
        return text
