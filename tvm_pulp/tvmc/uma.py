"""`tvmc uma create NAME`: a package for a new accelerator, with driver, model and SoC, that works as it is."""

import argparse
from pathlib import Path

from tvm_pulp.tvmc.argument import FOLDER, argument

ARGUMENTS = (
    argument("ACTION", choices=["create"], help="create: write the package of a new accelerator"),
    argument("NAME", help="name of the engine: --target=uma-NAME"),
    argument("-o", "--output", writes=FOLDER, metavar="DIR", help="new folder for the package; default: ./NAME"),
)


def run(args: argparse.Namespace) -> int:
    from tvm_pulp.uma.scaffold import create

    folder = Path(args.output or args.NAME)
    for path in create(args.NAME, folder):
        print(path)
    # Without a folder in front pip would look for a package of that name.
    place = folder if folder.is_absolute() else f"./{folder}"
    print(f"Install it with `pip install {place}`; then `tvmc targets` lists uma-{args.NAME}.")
    return 0
