"""Networks whose layers stand side by side."""

from pathlib import Path

import numpy as np
import onnx

from tvm_pulp.frontend.zoo.builder import Builder


def write_branches(path: Path, branches: int, depth: int, channels: int = 16, size: int = 8) -> Path:
    """A convolution, branches of small convolutions behind it, and their sum."""
    builder = Builder("branches", 1)
    values = np.random.default_rng(1).integers(-128, 128, (1, channels, size, size), dtype=np.int8)
    stem = builder.conv("stem", builder.input("x", [values]), channels, (3, 3))
    ends = []
    for branch in range(branches):
        end = stem
        for number in range(depth):
            end = builder.conv(f"branch_{branch}_{number}", end, channels, (3, 3), relu=False)
        ends.append(end)
    total = ends[0]
    for number, end in enumerate(ends[1:]):
        total = builder.add(f"sum_{number}", total, end)
    builder.output(builder.conv("last", total, channels, (1, 1)))
    onnx.save(builder.model(), path)
    return path
