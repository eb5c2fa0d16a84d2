"""`tvmc build`: the bare-metal ELF of an archive."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tvm_pulp.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("archive", metavar="ARCHIVE", help="archive written by `tvmc compile` for a SoC with a cluster")
    parser.add_argument("-o", "--output", metavar="F.elf", required=True, help="where the ELF goes")
    parser.add_argument("--toolchain", choices=("zig", "gcc"), default="zig", help="cross compiler; default: zig")
    parser.add_argument("--profile", action="store_true", help="note when layers begin, as `tvmc run` does")


def run(args: argparse.Namespace) -> int:
    """Build and copy; nothing half-written is left behind."""
    from tvm_pulp.codegen import mlf
    from tvm_pulp.toolchain.project.build_archive import build_archive

    files = mlf.read(Path(args.archive))
    elf = build_archive(files, mlf.metadata(files), profile=args.profile, toolchain=args.toolchain)
    output = Path(args.output)
    try:
        handle, temporary = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        os.close(handle)
        shutil.copyfile(elf, temporary)
        Path(temporary).chmod(0o755)
        Path(temporary).replace(output)
    except OSError as error:
        raise UserError(f"cannot write '{output}': {error.strerror}; choose another -o") from None
    print(f"tvmc build: wrote {output}: {output.stat().st_size:,} bytes", file=sys.stderr)
    return 0
