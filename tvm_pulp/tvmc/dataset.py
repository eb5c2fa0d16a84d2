"""`tvmc run --dataset`: many samples through one program."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING

from tvm_pulp.errors import refuse_if
from tvm_pulp.option_values import read_arrays, write_arrays
from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc import device_options
from tvm_pulp.tvmc.argument import argument
from tvm_pulp.tvmc.model_options import check_archive

if TYPE_CHECKING:
    import numpy as np

    from tvm_pulp.report.evaluate import Evaluation

_GROUP = "many samples"
ARGUMENTS = (
    argument("--dataset", metavar="X.npz", group=_GROUP, help="samples along the first axis of each input's array"),
    argument("--labels", metavar="Y.npz", group=_GROUP, help="classes of the samples: one array of integers"),
    argument(
        "--reference", metavar="ARCHIVE", group=_GROUP, help="another archive of the model, say for the host, beside it"
    ),
)
# Options of a single run.
_SINGLE = ("inputs", "html", "trace", "gdb", "log_calls", "profile", "check_reads")
_SECONDS = 1.0


def refuse_without(args: argparse.Namespace) -> None:
    """Raise where an option of datasets stands alone."""
    for name in ("labels", "reference"):
        refuse_if(getattr(args, name) is not None, f"--{name} has no effect without --dataset X.npz")


def run(args: argparse.Namespace) -> int:
    for name in _SINGLE:
        given = getattr(args, name)
        refuse_if(given not in (None, False), f"--{name.replace('_', '-')} is of a single run: leave out --dataset")
    refuse_if(args.repeat != 1, "--repeat is of a single run: leave out --dataset")
    if args.reference is not None:
        check_archive(args.reference)
    samples = dict(read_arrays(args.dataset, "--dataset"))
    labels = _labels(args.labels) if args.labels is not None else None
    from tvm_pulp.app import App

    app, reference = App.load(args.ARCHIVE), App.load(args.reference) if args.reference is not None else None
    settings = device_options.settings(args)
    found = app.evaluate(
        samples,
        labels,
        device=args.device,
        toolchain=args.toolchain,
        max_cycles=args.max_cycles,
        device_options=settings,
        progress=_Progress("tvmc run"),
    )
    record = found.record()
    print(_sentence(found))
    if reference is not None:
        beside = reference.evaluate(samples, labels, progress=_Progress("tvmc run: reference"))
        classes, equal = found.agreement(beside)
        record["reference"] = {"accuracy": beside.accuracy, "same_class": classes, "equal": equal}
        print(f"{args.reference}: {_sentence(beside)}; the same class in {classes}, equal outputs in {equal}")
    if args.outputs:
        write_arrays(args.outputs, found.outputs)
    if args.report:
        write_output(args.report, json.dumps(record, indent=2) + "\n")
    return 0


def _labels(path: str) -> "np.ndarray":
    arrays = read_arrays(path, "--labels")
    refuse_if(len(arrays) != 1, f"--labels: '{path}' holds {len(arrays)} arrays: give one, the class of every sample")
    ((_, labels),) = arrays
    refuse_if(
        labels.ndim != 1 or labels.dtype.kind not in "iu",
        f"--labels: '{path}' holds {labels.dtype}{list(labels.shape)}, not one integer for every sample",
    )
    return labels


def _sentence(found: "Evaluation") -> str:
    parts = [f"{found.samples} samples"]
    if found.accuracy is not None:
        parts.append(f"{100 * found.accuracy:.2f} % right")
    if found.cycles is not None:
        parts.append(f"{found.cycles.mean():,.0f} cycles ({found.cycles.min():,} to {found.cycles.max():,})")
    return ", ".join([*parts, f"{found.samples / found.seconds:.1f} samples per second"])


class _Progress:
    """A line on stderr every second, on a terminal always the same one."""

    def __init__(self, before: str) -> None:
        self._before, self._shown = before, time.monotonic()

    def __call__(self, done: int, count: int) -> None:
        if done < count and time.monotonic() - self._shown < _SECONDS:
            return
        self._shown = time.monotonic()
        terminal = sys.stderr.isatty()
        end = "\n" if done == count or not terminal else ""
        start = "\r" if terminal else ""
        print(f"{start}{self._before}: {done} of {count} samples", end=end, file=sys.stderr, flush=True)
