"""`tvmc sweep`: run a study of many models and machines, and write its table."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tvm_pulp.errors import refuse_if
from tvm_pulp.output_files import output_file
from tvm_pulp.tvmc.argument import FILE, FOLDER, argument

if TYPE_CHECKING:
    from tvm_pulp.dse import Configuration

_WRITERS = (".parquet", ".csv")


ARGUMENTS = (
    argument("STUDY", help="YAML file with models, socs, targets and compile_options"),
    argument("-o", "--output", writes=FILE, required=True, metavar="F.parquet", help="the table, as .parquet or .csv"),
    argument("--workers", type=int, metavar="N", help="local processes; default 1, 0: one per core"),
    argument("--scheduler", metavar="ADDRESS", help="of a running Dask scheduler: use its workers"),
    argument("--no-simulate", action="store_true", help="compile only: estimates, memory and area"),
    argument("--cache", writes=FOLDER, metavar="DIR", help="folder that remembers rows; default: the build cache"),
)
EPILOG = "Example: tvmc sweep study.yaml -o out.parquet --workers 4"


def run(args: argparse.Namespace) -> int:
    output = Path(args.output)
    refuse_if(
        output.suffix not in _WRITERS,
        f"-o '{output}': tables are written as {' or '.join(_WRITERS)}, choose one of them",
    )
    refuse_if(
        args.workers is not None and args.scheduler is not None,
        "--workers has no effect with --scheduler, which has its own: drop one of them",
    )
    refuse_if(args.workers is not None and args.workers < 0, f"--workers {args.workers}: must not be negative")
    from tvm_pulp.dse import read_study
    from tvm_pulp.dse.frame import need

    need("pandas", "the table of a study")
    if output.suffix == ".parquet":
        need("pyarrow", "a .parquet file")
    study = read_study(args.STUDY, cache=args.cache)
    workers = 1 if args.workers is None else args.workers or os.cpu_count() or 1
    with SweepProgress(sys.stderr) as progress:
        frame = study.run(workers=workers, scheduler=args.scheduler, simulate=not args.no_simulate, progress=progress)
    with output_file(output) as stream:
        if output.suffix == ".parquet":
            frame.to_parquet(stream)
        else:
            frame.to_csv(stream, index=False)
    failed = int(frame.error.notna().sum())
    more = f", {failed} of them failed: see the column `error`" if failed else ""
    print(f"{len(frame)} configurations in {output}{more}")
    return 0


class SweepProgress:
    """A bar on a terminal, elsewhere a line for each row.

    with SweepProgress(sys.stderr) as progress:
        study.run(progress=progress)
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._started = stream, time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "SweepProgress":
        if self._stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
            from rich.progress import TimeRemainingColumn as Remaining
            from rich.table import Column

            # The name gets what the figures leave.
            name = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
            columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), Remaining(), name)
            self._bar = Progress(*columns, console=Console(file=self._stream), expand=True)
            self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int, last: "Configuration | None") -> None:
        name = "" if last is None else f"{last.model.shown} on {last.variant.name}, {last.target}"
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task("", total=total)
            self._bar.update(self._task, completed=done, total=total, description=name)
        elif last is None:
            known = f", {done} of them known already" if done else ""
            print(f"tvmc sweep: {total} configurations{known}", file=self._stream, flush=True)
        else:
            seconds = time.monotonic() - self._started
            print(f"tvmc sweep: {done} of {total} after {seconds:.0f} s: {name}", file=self._stream, flush=True)
