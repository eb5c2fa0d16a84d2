"""`tvmc build`: the bare-metal ELF of an archive."""

import argparse
import sys
from pathlib import Path

from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc.argument import FILE, argument
from tvm_pulp.tvmc.model_options import check_archive

ARGUMENTS = (
    argument("archive", metavar="ARCHIVE", help="archive written by `tvmc compile` for a SoC with a cluster"),
    argument("-o", "--output", writes=FILE, metavar="F.elf", required=True, help="where the ELF goes"),
    argument("--toolchain", choices=("zig", "gcc"), default="zig", help="cross compiler; default: zig"),
    argument("--profile", action="store_true", help="note when layers begin, as `tvmc run` does"),
)


def run(args: argparse.Namespace) -> int:
    """Build and copy."""
    check_archive(args.archive)
    from tvm_pulp.codegen import mlf
    from tvm_pulp.toolchain import build_of_archive
    from tvm_pulp.toolchain.project.build_archive import build_archive

    files = mlf.read(Path(args.archive))
    with build_of_archive():
        elf = build_archive(files, mlf.metadata(files), profile=args.profile, toolchain=args.toolchain)
    program = elf.read_bytes()
    write_output(args.output, program, executable=True)
    print(f"tvmc build: wrote {args.output}: {len(program):,} bytes", file=sys.stderr)
    return 0
