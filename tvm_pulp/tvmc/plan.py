"""`tvmc plan`: the deployment plan as a table, and as pictures of memories and time."""

import argparse
import sys
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

ARGUMENTS = (
    argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder for plan.json, l1.svg and l2.svg (memories over time) and timeline.svg; made if it is absent",
    ),
)


def run(args: argparse.Namespace) -> int:
    folder = Path(args.output) if args.output else None
    refuse_if(
        folder is not None and folder.exists() and not folder.is_dir(),
        f"-o: '{folder}' is not a folder; name another one",
    )
    options = options_of(args)
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.planning.tir.describe import describe
    from tvm_pulp.report.plan_pictures import write_pictures
    from tvm_pulp.report.plan_table import print_plan
    from tvm_pulp.soc.cost_model import CostModel

    compilation = Compilation(args.MODEL, options)
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
