"""`tvmc plugin`: accelerator models as components of another simulator."""

import argparse
import sys
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.argument import FOLDER, argument

ARGUMENTS = (
    argument("SIMULATOR", help="gvsoc or etiss"),
    argument("-o", "--output", writes=FOLDER, required=True, metavar="DIR", help="folder to write, new or empty"),
    argument("--soc", metavar="NAME", help="whose engines; default: what the simulator's programs run on"),
    argument("--engine", action="append", default=[], metavar="NAME", help="one of its engines; default: all of them"),
    argument("--build", action="store_true", help="build it where the simulator's installation is found"),
    argument("--home", metavar="DIR", help="the installation; default: $GVSOC_HOME, $ETISS_HOME"),
)
EPILOG = "Example: tvmc plugin gvsoc -o plugin --build"


def run(args: argparse.Namespace) -> int:
    from tvm_pulp.sim.plugin import SIMULATORS, build, find_installation, write

    refuse_if(args.SIMULATOR not in SIMULATORS, f"no plug-in for '{args.SIMULATOR}': choose {' or '.join(SIMULATORS)}")
    refuse_if(args.home and not args.build, "--home has no effect without --build: give both or none")
    folder = Path(args.output)
    refuse_if(
        folder.exists() and (not folder.is_dir() or any(folder.iterdir())),
        f"-o: '{folder}' is there already: name a new or empty folder",
    )
    # Before anything is written: a folder that is there stands in the way of the next try.
    found = find_installation(args.SIMULATOR, {"home": args.home} if args.home else {}) if args.build else None
    engines = write(args.SIMULATOR, folder, args.soc, args.engine)
    text = f"wrote {folder}: {', '.join(engines)} for {args.SIMULATOR}"
    if found is not None:
        build(args.SIMULATOR, folder, found)
        text += ", built"
    print(f"tvmc plugin: {text}; {folder}/README.md tells how to use it", file=sys.stderr)
    return 0
