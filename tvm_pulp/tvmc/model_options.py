"""Options of every verb that reads a model: compile, explain, plan."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL and everything that can be said about it and its target."""
    parser.add_argument("MODEL", help="model file (.onnx, .tflite) or zoo:NAME")
    parser.add_argument(
        "--target",
        default="c",
        metavar="LIST",
        help="engines by priority, comma separated (see `tvmc targets`); default: c, no accelerator",
    )
    parser.add_argument(
        "--soc",
        metavar="NAME",
        help="system on chip, a name or a file; default: the one that carries the engines, for --target=c host, "
        "which is this machine",
    )
    parser.add_argument("--model-format", choices=["onnx", "tflite"], help="default: from the file name")
    parser.add_argument("--module-name", default="default", help="prefix of C names: tvmgen_<NAME>_run")
    parser.add_argument("--input-shapes", default="", metavar="SPEC", help='fix dynamic shapes: "x:[1,3,32,32]"')
    parser.add_argument(
        "--input-types", default="", metavar="SPEC", help='types of integer inputs: "x:uint8,mask:int8"'
    )
    parser.add_argument("--sample-inputs", metavar="F.npz", help="arrays from whose range input types are inferred")
    parser.add_argument(
        "--io",
        choices=["int8", "uint8"],
        help="take and return integers: float inputs and outputs lose their quantization, the header gains its scales",
    )
    parser.add_argument("--l1", metavar="BYTES", help="L1 that tiles may use, as 65536 or 64k; default: all of it")
    parser.add_argument("--l2", metavar="BYTES", help="L2 for activations and constants; default: all but code")
    parser.add_argument(
        "--no-double-buffer", action="store_true", help="nothing is fetched ahead: transfers and computation alternate"
    )
    parser.add_argument(
        "--planner",
        metavar="NAME",
        help="solver: constraint solver for the whole network (default); greedy: layer by layer, as a baseline",
    )
    parser.add_argument(
        "--plan", metavar="FILE", help="take all decisions from an archive, or from its plan.json, instead of planning"
    )
    parser.add_argument(
        "--state", action="store_true", help="caches that go in and come out stay in the device, appended in place"
    )
    parser.add_argument(
        "--state-memory", metavar="LEVEL", help="where caches lie: l1, l2 or l3; default: as the planner finds best"
    )
    parser.add_argument("--capacity", type=int, metavar="N", help="tokens that the cache of a language model holds")
    parser.add_argument(
        "--tokenizer", metavar="FILE", help="tokenizer.json of a language model; travels in the archive"
    )
    parser.add_argument("--cores", type=int, metavar="N", help="cluster cores that take part; default: all")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="NODE=ENGINE",
        help="run a layer on an engine, or on two (ENGINE+cluster); repeat for more",
    )
    parser.epilog = "Engines have options of their own: --target-uma-<engine>-<option> VALUE (see `tvmc targets`)."
    parser.allow_engine_options = True  # type: ignore[attr-defined]


def split_engine_options(arguments: Sequence[str]) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Take `--target-uma-<engine>-<option> VALUE` (or `=VALUE`) out of the arguments."""
    rest: list[str] = []
    options: dict[str, dict[str, str]] = {}
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        match = re.fullmatch(r"--target-uma-([a-z0-9_]+)-([a-z0-9_]+)(?:=(.*))?", argument)
        if not match:
            rest.append(argument)
            continue
        if match[3] is None and not queue:
            raise UserError(f"{argument} needs a value")
        value = match[3] if match[3] is not None else queue.pop(0)
        options.setdefault(match[1], {})[match[2]] = value
    return rest, options


def parse_pins(texts: Sequence[str]) -> dict[str, str]:
    """`["conv1=cluster"]` as a dictionary."""
    pins = {}
    for text in texts:
        node, separator, engine = text.rpartition("=")
        if not separator or not node or not engine:
            raise UserError(f"--pin '{text}' is not NODE=ENGINE")
        pins[node] = engine
    return pins


def parse_types(text: str) -> dict[str, str]:
    """`"x:uint8,y:int8"` as a dictionary."""
    result = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, separator, dtype = part.rpartition(":")
        if not separator or not name:
            raise UserError(f"--input-types: '{part}' is not NAME:TYPE")
        result[name] = dtype
    return result


def parse_shapes(text: str) -> dict[str, tuple[int, ...]]:
    """`"x:[1,3],y:[2]"` as a dictionary."""
    result = {}
    rest = text.strip()
    while rest:
        match = re.match(r"\s*([^\[\]]+?)\s*:\s*\[([\d\s,]*)\]\s*,?", rest)
        if not match:
            raise UserError(f"--input-shapes: '{rest}' is not NAME:[D0,D1,...]")
        result[match[1]] = tuple(int(d) for d in match[2].split(",") if d.strip())
        rest = rest[match.end() :]
    return result


def read_arrays(path: str, option: str) -> list[tuple[str, np.ndarray]]:
    """Arrays of an .npz file in file order."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return [(name, archive[name]) for name in archive.files]
    except FileNotFoundError:
        raise UserError(f"{option}: file '{path}' does not exist") from None
    except Exception as error:
        reason = str(error).split("\n")[0][:120]
        raise UserError(f"{option}: '{path}' is not a readable .npz file ({reason})") from None


def options_of(args: argparse.Namespace) -> Any:
    """The compile options that the arguments state."""
    from tvm_pulp.api import CompileOptions

    return CompileOptions(
        target=args.target,
        soc=args.soc,
        module_name=args.module_name,
        model_format=args.model_format,
        input_shapes=parse_shapes(args.input_shapes),
        input_types=parse_types(args.input_types),
        sample_inputs=read_arrays(args.sample_inputs, "--sample-inputs") if args.sample_inputs else (),
        engine_options=args.engine_options,
        l1=args.l1,
        l2=args.l2,
        double_buffer=not args.no_double_buffer,
        planner=args.planner,
        plan=args.plan,
        cores=args.cores,
        capacity=args.capacity,
        tokenizer=args.tokenizer,
        state=args.state,
        state_memory=args.state_memory,
        pins=parse_pins(args.pin),
        io=args.io,
    )


def check_writable(path: str, option: str) -> Path:
    """Fail before the work, not after it."""
    target = Path(path)
    if not target.parent.is_dir():
        raise UserError(f"{option}: folder '{target.parent}' does not exist")
    if target.is_dir():
        raise UserError(f"{option}: '{target}' is a folder; name a file")
    return target
