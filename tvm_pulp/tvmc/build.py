"""`tvmc build`: the bare-metal ELF of an archive."""

import argparse
import shutil
import sys
from pathlib import Path

from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.model_options import check_archive, check_writable

ARGUMENTS = (
    argument("archive", metavar="ARCHIVE", help="archive written by `tvmc compile` for a SoC with a cluster"),
    argument("-o", "--output", metavar="F.elf", required=True, help="where the ELF goes"),
    argument("--toolchain", choices=("zig", "gcc"), default="zig", help="cross compiler; default: zig"),
    argument("--profile", action="store_true", help="note when layers begin, as `tvmc run` does"),
)


def run(args: argparse.Namespace) -> int:
    """Build and copy."""
    check_archive(args.archive)
    check_writable(args.output, "-o")
    from tvm_pulp.codegen import mlf
    from tvm_pulp.toolchain.project.build_archive import build_archive

    files = mlf.read(Path(args.archive))
    elf = build_archive(files, mlf.metadata(files), profile=args.profile, toolchain=args.toolchain)
    output = Path(args.output)
    with mlf.whole_file(output, 0o755) as place:
        shutil.copyfile(elf, place)
    print(f"tvmc build: wrote {output}: {output.stat().st_size:,} bytes", file=sys.stderr)
    return 0
