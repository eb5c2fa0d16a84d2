"""`tvmc plan`: the deployment plan as a table, and as pictures of memories and time."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.errors import refuse_if
from tvm_pulp.output_files import write_outputs
from tvm_pulp.tvmc.argument import FOLDER, argument
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

if TYPE_CHECKING:
    from tvm_pulp.compilation import Compilation

ARGUMENTS = (
    argument(
        "-o",
        "--output",
        writes=FOLDER,
        metavar="DIR",
        help="folder for plan.json, l1.svg and l2.svg (memories over time) and timeline.svg, of a CPU by itself for "
        "memory.svg; made if it is absent",
    ),
)


def run(args: argparse.Namespace) -> int:
    folder = Path(args.output) if args.output else None
    options = options_of(args)
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.planning.tir.describe import describe
    from tvm_pulp.report.plan_pictures import write_pictures
    from tvm_pulp.report.plan_table import print_plan
    from tvm_pulp.soc.cost_model import CostModel

    compilation = Compilation(args.MODEL, options)
    if not compilation.target.soc.simulated:
        return _cpu(compilation, folder)
    with Progress("plan", stages=False):
        plans = compilation.plans
    for entry, lowered in plans.items():
        described = describe(lowered)
        if entry:
            print(f"{entry}:")
        print_plan(lowered.plan, sys.stdout, described)
        if folder is not None:
            machine = CostModel(compilation.target.soc, lowered.plan.cores)
            write_pictures(folder / entry if entry else folder, described, machine)
    return 0


def _cpu(compilation: "Compilation", folder: Path | None) -> int:
    """The program of a CPU by itself: its functions, and the places of what they make."""
    from tvm_pulp.entry_point import HostEntryPoint
    from tvm_pulp.report.cpu_plan import arena_picture, print_cpu_plan

    soc = compilation.target.soc
    refuse_if(
        compilation.language_model is not None,
        f"plan shows programs of one network, and on --soc {soc.name} a language model has several: use `tvmc compile` "
        "or choose a SoC with a cluster",
    )
    with Progress("plan", stages=False):
        entry = compilation.entry
        assert isinstance(entry, HostEntryPoint)
        functions = entry.program.functions
    print_cpu_plan(entry.plan, functions, sys.stdout)
    if folder is not None:
        write_outputs(folder, {"memory.svg": arena_picture(entry.plan).encode()})
    return 0
