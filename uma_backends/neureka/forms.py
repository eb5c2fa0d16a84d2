"""How NEUREKA lays the rows of a matrix out as a picture."""

from tvm_pulp.planning.tiling.forms import conv_array
from tvm_pulp.uma import Box
from uma_backends.neureka.geometry import Geometry


def rows_of(geometry: Geometry, count: int, box: Box, shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows of a tile as a picture for the array."""
    return conv_array.rows_of(geometry.pe_rows, geometry.pe_columns, count, box, shape)
