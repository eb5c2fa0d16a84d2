"""`tvmc quantize`: a float model becomes a quantized ONNX model, with a table of what that costs."""

import argparse
import sys
from pathlib import Path

from tvm_pulp.compile_options import FLOAT_FORMATS, check_exists, model_files
from tvm_pulp.option_values import read_arrays
from tvm_pulp.tvmc.argument import FILE, QUIET, argument
from tvm_pulp.tvmc.progress import Progress

ARGUMENTS = (
    argument("MODEL", help=f"float model file ({model_files(*FLOAT_FORMATS)})"),
    argument("--calibration", required=True, metavar="F.npz", help="an array per input, samples along the first axis"),
    argument("-o", "--output", writes=FILE, required=True, metavar="FILE.onnx", help="quantized model to write"),
    argument(
        "--evaluation", metavar="F.npz", help="samples that the cost is measured with; default: those of --calibration"
    ),
    argument("--weight-bits", type=int, default=8, metavar="N", help="8 (default) or 4"),
    argument(
        "--method",
        default="minmax",
        metavar="NAME",
        help="of choosing ranges: minmax (default), entropy, percentile",
    ),
    argument(
        "--max-loss",
        type=float,
        metavar="PART",
        help="largest loss of arg-max agreement, 0.01 is one percent: layers that cost most stay float until it holds",
    ),
    argument("--keep", action="append", default=[], metavar="NODE", help="a layer that stays float; repeat for more"),
    QUIET,
)
EPILOG = "tvmc quantize net.onnx --calibration samples.npz -o q.onnx && tvmc compile q.onnx --io int8 -o q.tar"


def run(args: argparse.Namespace) -> int:
    check_exists(Path(args.MODEL))
    calibration = dict(read_arrays(args.calibration, "--calibration"))
    evaluation = dict(read_arrays(args.evaluation, "--evaluation")) if args.evaluation else None
    progress = Progress("quantize", quiet=args.quiet)
    progress(f"loading {args.MODEL}")
    from tvm_pulp.frontend.quantize import print_quantized, quantize

    with progress:
        made = quantize(
            args.MODEL,
            calibration,
            evaluation=evaluation,
            progress=progress,
            weight_bits=args.weight_bits,
            method=args.method,
            max_loss=args.max_loss,
            keep=tuple(args.keep),
        )
    made.save(args.output)
    print_quantized(made, sys.stdout)
    return 0
