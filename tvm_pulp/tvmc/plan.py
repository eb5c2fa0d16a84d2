"""`tvmc plan`: the deployment plan as a table, and as pictures of memories and time."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.tvmc.argument import FOLDER, argument
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

if TYPE_CHECKING:
    from tvm_pulp.planning.cpu import LoweredCpuPlan
    from tvm_pulp.planning.tir import LoweredPlan
    from tvm_pulp.soc import Soc

ARGUMENTS = (
    argument(
        "-o",
        "--output",
        writes=FOLDER,
        metavar="DIR",
        help="folder for plan.json, l1.svg and l2.svg (memories over time) and timeline.svg, of a CPU by itself for "
        "plan.json and memory.svg; made if it is absent",
    ),
)


def run(args: argparse.Namespace) -> int:
    folder = Path(args.output) if args.output else None
    options = options_of(args)
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.planning.cpu import LoweredCpuPlan

    compilation = Compilation(args.MODEL, options)
    with Progress("plan", stages=False):
        plans = compilation.plans
    for entry, lowered in plans.items():
        if entry:
            print(f"{entry}:")
        into = None if folder is None else folder / entry
        if isinstance(lowered, LoweredCpuPlan):
            _show_cpu_plan(lowered, into)
        else:
            _show_plan(lowered, into, compilation.target.soc)
    return 0


def _show_plan(lowered: "LoweredPlan", folder: Path | None, soc: "Soc") -> None:
    """The plan for a SoC with a cluster."""
    from tvm_pulp.planning.tir.describe import describe
    from tvm_pulp.report.plan_pictures import write_pictures
    from tvm_pulp.report.plan_table import print_plan
    from tvm_pulp.soc.cost_model import CostModel

    described = describe(lowered)
    print_plan(lowered.plan, sys.stdout, described)
    if folder is not None:
        write_pictures(folder, described, CostModel(soc, lowered.plan.cores))


def _show_cpu_plan(lowered: "LoweredCpuPlan", folder: Path | None) -> None:
    """The plan for a CPU by itself."""
    from tvm_pulp.report.cpu_plan import print_cpu_plan, write_cpu_pictures

    cpu = lowered.plan.request.cpu
    print_cpu_plan(lowered.record, cpu.stack_bytes if cpu is not None and cpu.hal else 0, sys.stdout)
    if folder is not None:
        write_cpu_pictures(folder, lowered.record)
