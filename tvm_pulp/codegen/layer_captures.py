"""Places and times at which a program that keeps its layers holds their results.

On a cluster it waits before every step, as a debug build does, until the steps before it are done and no accelerator
works. What a layer stores lies in L1 then, tile by tile, whether it is stored or stays there, and the program writes it
to its standard output. On the host everything stays in the arena.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources

import numpy as np

from tvm_pulp.codegen.formats import from_json
from tvm_pulp.codegen.formats.layers_json import LayersJson
from tvm_pulp.codegen.model_text import safe
from tvm_pulp.errors import UserError
from tvm_pulp.limits import LARGEST_TENSOR
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.kernel_sources import texts_in
from tvm_pulp.uma.recipe import Store

FILE = "layers.json"
_BOXES = ("shape", "start", "size")
_FOLDER = "show_layers"
# Values of a layer.
_LARGEST = 1 << 28


@dataclass(frozen=True)
class LayerCapture:
    """A box of a layer's result: from `offset` of L1, or of the host's arena, before step `step`."""

    layer: str
    step: int
    offset: int
    shape: tuple[int, ...]  # of the whole
    start: tuple[int, ...]
    size: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        return int(np.prod(self.size, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def cluster_captures(lowered: LoweredPlan) -> list[LayerCapture]:
    """Results of all layers of a plan in the order of steps."""
    found, slots, positions = [], lowered.tables.tile_slots, lowered.positions
    for number, layer in enumerate(lowered.plan.layers):
        for tile, recipe in enumerate(layer.recipes):
            for step in (s for s in recipe.steps if isinstance(s, Store)):
                made = [slot for slot in slots.get((number, tile), []) if step.local in slot.places]
                whole = step.tensor.spec
                if made and step.tensor.storage is layer.layer.outputs[0].storage:
                    at, place = bisect_right(positions, made[-1].position), made[-1].places[step.local]
                    box = (tuple(whole.shape), tuple(step.box.start), tuple(step.box.size))
                    capture = LayerCapture(layer.layer.name, at, place.address, *box, whole.dtype)
                    if capture.bytes == step.local.spec.bytes:
                        found.append(capture)
    return sorted(found, key=lambda capture: capture.step)


def host_captures(network: Network, arena: Arena) -> list[LayerCapture]:
    """Results that an arena keeps to the end."""
    found = []
    for layer in network.layers:
        tensor = layer.outputs[0].storage
        if tensor in arena.offsets:
            shape = tuple(tensor.spec.shape)
            box = (shape, (0,) * len(shape), shape)
            found.append(LayerCapture(layer.name, 0, arena.offsets[tensor], *box, tensor.spec.dtype))
    return found


def source_file(name: str, captures: Sequence[LayerCapture], steps: int) -> str:
    """`<name>_layers.c`: the table of what the program shows."""
    lines = [f"/* Results of the layers of {safe(name)}, as they are made. */", '#include "tvm_pulp/hal.h"']
    lines += ['#include "tvm_pulp_show_layers.h"', "", "const struct tvm_pulp_result tvm_pulp_results[] = {"]
    for made in captures:
        place = f"tvm_pulp_l1_arena + {made.offset}"
        lines.append(f"  {{{made.step}u, {place}, {made.bytes}u}}, /* {safe(made.layer)} */")
    return "\n".join([*lines, f"  {{{steps}u, 0, 0u}},", "};", ""])


def runtime_files(hal: str) -> dict[str, str]:
    """Files of the runtime that show results on a platform."""
    folder = resources.files("c_runtime").joinpath(_FOLDER)
    if not folder.joinpath(hal, "show.c").is_file():
        raise UserError(f"the runtime of this SoC ('{hal}') cannot show what layers make: choose another --soc")
    texts = {path.removeprefix(f"{hal}/"): text for path, text in texts_in(folder)}
    return {f"{_FOLDER}/{path}": text for path, text in texts.items() if "/" not in path}


def to_file(captures: Sequence[LayerCapture]) -> str:
    return json.dumps([asdict(capture) for capture in captures]) + "\n"


def from_files(files: Mapping[str, bytes]) -> list[LayerCapture] | None:
    """The record of an archive, or None of one that keeps no results."""
    if FILE not in files:
        return None
    try:
        found = [LayerCapture(**{**e, **{n: tuple(e[n]) for n in _BOXES}}) for e in from_json(LayersJson, files[FILE])]
        _check_boxes(found)
    except ValueError as error:
        raise UserError(f"the archive's {FILE} is damaged ({error}): recompile") from None
    return found


def _check_boxes(captures: Sequence[LayerCapture]) -> None:
    """Raise ValueError where boxes are no part of their layers, or those of a layer are of several shapes or types."""
    known: dict[str, tuple[tuple[int, ...], str]] = {}
    for made in captures:
        one_rank = len(made.shape) == len(made.start) == len(made.size)
        if not one_rank or not all(a + n <= w for a, n, w in zip(made.start, made.size, made.shape, strict=True)):
            raise ValueError(f"layer {made.layer}: a part of it lies outside")
        if math.prod(max(extent, 1) for extent in made.shape) > _LARGEST:
            raise ValueError(f"layer {made.layer} is too large")
        if known.setdefault(made.layer, (made.shape, made.dtype)) != (made.shape, made.dtype):
            raise ValueError(f"layer {made.layer} has two shapes")
    if sum(8 * math.prod(shape) for shape, _ in known.values()) > 8 * LARGEST_TENSOR:
        raise ValueError("its layers are too large together")


def captured_layers(
    captures: Sequence[LayerCapture] | None, read: Callable[[LayerCapture], bytes]
) -> dict[str, np.ndarray]:
    """Results by layer, put together of their boxes; those of which no box covers a value are not known."""
    assert captures is not None, "the archive keeps its layers"
    values: dict[str, np.ndarray] = {}
    known: dict[str, np.ndarray] = {}
    for capture in captures:
        value = values.setdefault(capture.layer, np.zeros(capture.shape, capture.dtype)).reshape(capture.shape)
        seen = known.setdefault(capture.layer, np.zeros(capture.shape, bool)).reshape(capture.shape)
        part = tuple(slice(a, a + n) for a, n in zip(capture.start, capture.size, strict=True))
        value[part] = np.frombuffer(read(capture), capture.dtype).reshape(capture.size)
        seen[part] = True
    return {name: value for name, value in values.items() if known[name].all()}
