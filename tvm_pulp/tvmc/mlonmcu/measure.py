"""The process behind the RUN stage: a program on its device, twice, and what the second inference took.

    python -m tvm_pulp.mlonmcu.measure ARCHIVE PROGRAM FOLDER [--inputs F.npz] [--device NAME] [--toolchain NAME] ...

Writes `outputs.npz`, `report.json` and `figures.json` (names of MLonMCU's metrics) into FOLDER.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.errors import refuse_if
from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.mlonmcu.tool import run_stage

_ARGUMENTS = (
    *(argument(name, type=Path) for name in ("archive", "program", "folder", "--inputs")),
    argument("--device"),
    argument("--device-option", action="append", default=[]),
    argument("--toolchain"),
    argument("--max-cycles", type=int),
    argument("--trace", action="store_true"),
)
TRACE, REPORT, FIGURES = "trace.json", "report.json", "figures.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Run and write; exit status as `run_stage` says."""
    return run_stage(_ARGUMENTS, measure, argv)


def measure(args: argparse.Namespace) -> None:
    """One inference from reset, then two: the same outputs; the difference is what one inference takes."""
    from tvm_pulp.api import App
    from tvm_pulp.codegen.formats import ReportJson, to_json
    from tvm_pulp.option_values import read_arrays, write_arrays
    from tvm_pulp.report.report import run_report
    from tvm_pulp.sim.instruments import Instruments
    from tvm_pulp.sim.run_twice import check_same
    from tvm_pulp.sim.runner import declared_statistics
    from tvm_pulp.tvmc import device_options

    app = App.load(args.archive)
    instruments = Instruments(trace=args.folder / TRACE if args.trace else None)
    given = dict(read_arrays(str(args.inputs), "inputs")) if args.inputs else None
    settings = device_options.settings(args)
    device, runner, arrays = app.prepared(given, args.device, args.toolchain, args.max_cycles, instruments, settings)
    if device == "iss":
        # Other devices build a program of their own; here that of the stage before is measured.
        loaded = runner.program()
        refuse_if(
            loaded is not None and loaded.read_bytes() != args.program.read_bytes(),
            f"'{args.program.name}' is not the program of this archive: run the compile stage again",
        )
    runner.load(arrays)
    runner.run(1)
    first, once = runner.read_back(), declared_statistics(runner)
    runner.load(arrays, trace=args.trace)
    runner.run(2)
    outputs, twice = runner.read_back(), declared_statistics(runner)
    check_same(app.metadata, first, outputs, "after one inference and after two")
    if args.trace and twice.trace is not None:
        write_output(args.folder / TRACE, json.dumps(twice.trace) + "\n")
    made = run_report(app.metadata, twice)
    write_output(args.folder / REPORT, to_json(ReportJson, made, indent=2))
    named = {o["name"]: value for o, value in zip(app.metadata["tvm_pulp"]["outputs"], outputs, strict=True)}
    write_arrays(args.folder / "outputs.npz", named)
    found = figures(made, once, twice, device == "host")
    write_output(args.folder / FIGURES, json.dumps(found, indent=1) + "\n")


def figures(made: dict[str, Any], once: Any, twice: Any, on_host: bool) -> dict[str, Any]:
    """MLonMCU's metrics of one inference; what is not known is absent."""
    found = {
        "Total Cycles": twice.cycles,
        "Cold Cycles": once.cycles,
        "Estimated Cycles": made["estimated_cycles"],
        "Bound Cycles": made["bound_cycles"],
        "Energy [uJ]": made["energy_uj"],
        "Energy Spread": made.get("energy_spread"),
        "Simulation Time [s]": None if on_host else twice.run_seconds,
        # Of this machine, which has no cycles to count.
        "Runtime [s]": twice.run_seconds if on_host else None,
    }
    if twice.instructions is not None:
        found["Total Instructions"] = twice.instructions
    if once.counters is not None and twice.counters is not None:
        # Both runs start at reset: what they share is start-up and the first inference.
        instructions = twice.counters.instructions - once.counters.instructions
        found["Total Instructions"] = instructions
        found["Simulated Instructions"] = twice.counters.instructions
        found["MIPS"] = twice.counters.mips
        if twice.cycles and instructions:
            found["Total CPI"] = twice.cycles / instructions
    return {name: value for name, value in found.items() if value is not None}


if __name__ == "__main__":
    sys.exit(main())
