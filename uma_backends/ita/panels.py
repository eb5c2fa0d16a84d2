"""Matrices as panels: columns of 64 bytes that come by DMA, rows that follow each other, whole tiles of them."""

from collections.abc import Iterator, Sequence

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Kernel, Load, Local, Step, Store
from uma_backends.ita.command import Panel, panels_of
from uma_backends.ita.geometry import TILE, padded
from uma_backends.ita.ita_form import ItaContext


def panel_local(name: str, rows: int, room: int = 0) -> Local:
    """Rows of 64 bytes, up to whole tiles and to as many as there is to be room for."""
    return Local(name, TensorSpec((rows, TILE), "int8"), (padded(max(rows, room)) - rows) * TILE)


def panel_starts(extent: int) -> list[int]:
    """Starts of the panels of an extent; the last one overlaps the one before rather than reach over the end."""
    return [min(start, extent - TILE) for start in range(0, extent, TILE)]


def _parts(name: str, box: Box, room: int, starts: Sequence[int]) -> Iterator[tuple[Local, Box, Local | None]]:
    """Panels that begin at columns of a box, each with its part of the matrix, and a buffer where that is narrower."""
    (row, column), (rows, columns) = box.start, box.size
    for number, start in enumerate(starts):
        width = min(TILE, columns - start)
        narrow = None if width == TILE else Local(f"{name}_narrow", TensorSpec((rows, width), "int8"))
        yield panel_local(f"{name}{number}", rows, room), Box((row, column + start), (rows, width)), narrow


def load_panels(
    name: str, tensor: Tensor, box: Box, context: ItaContext, room: int = 0, *, exact: bool = False
) -> tuple[list[Step], tuple[Panel, ...]]:
    """Rows and columns of a box of a matrix as panels; the cores append zeros where there are less than 64 columns.

    Unless they have to be `exact`, the last of several overlaps the one before, which is up to the weights' zeros.
    """
    columns = box.size[1]
    steps: list[Step] = []
    panels = []
    starts = range(0, columns, TILE) if exact or columns < TILE else panel_starts(columns)
    for local, part, narrow in _parts(name, box, room, starts):
        panels.append(Panel(local))
        steps.append(Load(tensor, part, narrow or local))
        if narrow is not None:
            attributes = {"before": [0, 0], "after": [0, TILE - part.size[1]], "value": 0}
            steps.append(context.on_cores(Kernel("pad", attributes, (narrow,), (local,))))
    return steps, tuple(panels)


def store_panels(
    name: str, tensor: Tensor, box: Box, context: ItaContext, room: int = 0
) -> tuple[tuple[Panel, ...], list[Step]]:
    """Panels for a box of a matrix, and the steps that store them; the cores cut a last one that is narrower."""
    panels: list[Panel] = []
    steps: list[Step] = []
    for local, part, narrow in _parts(name, box, room, range(0, box.size[1], TILE)):
        panels.append(Panel(local))
        if narrow is not None:
            attributes = {"begin": [0, 0], "stride": [1, 1], "size": list(part.size)}
            steps.append(context.on_cores(Kernel("slice", attributes, (local,), (narrow,))))
        steps.append(Store(narrow or local, tensor, part))
    return tuple(panels), steps


def load_transposed(name: str, tensor: Tensor, box: Box, context: ItaContext) -> tuple[list[Step], tuple[Panel, ...]]:
    """A box of [inner][columns] as one panel of [columns][64] per 64 of the inner length: the cores transpose tiles."""
    (row, column), (depth, columns) = box.start, box.size
    whole, rest = divmod(depth, TILE)
    beyond = (padded(columns) - columns) * TILE  # what a last tile of columns has more
    steps: list[Step] = []
    panels: tuple[Panel, ...] = ()
    if whole:
        source = Local(f"{name}_rows", TensorSpec((whole, TILE, columns), "int8"))
        transposed = Local(f"{name}_transposed", TensorSpec((whole, columns, TILE), "int8"), beyond)
        steps.append(Load(tensor, Box((row, column), (whole * TILE, columns)), source))
        steps.append(context.on_cores(Kernel("transpose", {"axes": [0, 2, 1]}, (source,), (transposed,))))
        panels = panels_of(transposed, whole, columns * TILE)
    if rest:
        source = Local(f"{name}_last_rows", TensorSpec((rest, columns), "int8"))
        grown = Local(f"{name}_grown", TensorSpec((TILE, columns), "int8"))
        transposed = Local(f"{name}_last_transposed", TensorSpec((columns, TILE), "int8"), beyond)
        steps.append(Load(tensor, Box((row + whole * TILE, column), (rest, columns)), source))
        # What stands there meets zeros of the left operand, but it has to be something.
        attributes = {"before": [0, 0], "after": [TILE - rest, 0], "value": 0}
        steps.append(context.on_cores(Kernel("pad", attributes, (source,), (grown,))))
        steps.append(context.on_cores(Kernel("transpose", {"axes": [1, 0]}, (grown,), (transposed,))))
        panels = (*panels, Panel(transposed))
    return steps, panels
