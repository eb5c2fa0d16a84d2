"""Values of options, as texts of the command line write them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tvm_pulp.array_file import read_npz
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import is_absent, open_input
from tvm_pulp.limits import ARRAY_BYTES
from tvm_pulp.output_files import output_file

if TYPE_CHECKING:
    import numpy as np


def parse_pin(text: str) -> tuple[str, str]:
    """`conv1=cluster` as a layer and its engine."""
    node, separator, engine = text.rpartition("=")
    refuse_if(not separator or not node or not engine, f"--pin '{text}' is not NODE=ENGINE")
    return node, engine


def parse_types(text: str) -> dict[str, str]:
    """`"x:uint8,y:int8"` as a dictionary."""
    result = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, separator, dtype = part.rpartition(":")
        refuse_if(not separator or not name, f"--input-types: '{part}' is not NAME:TYPE")
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


def write_arrays(path: str | Path, arrays: "Mapping[str, np.ndarray]") -> None:
    """An .npz file of exactly that name."""
    import numpy as np

    with output_file(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def read_arrays(path: str, option: str) -> "list[tuple[str, np.ndarray]]":
    """Arrays of an .npz file in file order."""
    refuse_if(is_absent(path), f"{option}: file '{path}' does not exist")
    sentence = f"{option}: '{path}' cannot be read"
    try:
        with open_input(path, sentence, ARRAY_BYTES) as stream:
            return read_npz(stream, os.fstat(stream.fileno()).st_size, sentence)
    except UserError:
        raise
    except Exception:
        # The reasons of numpy speak of pickles, which an archive of arrays does not hold.
        raise UserError(f"{option}: '{path}' cannot be read as .npz: write it with numpy.savez") from None
