"""All ATen operators with a translation: PyTorch's name, without `.default`, to the function that writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm_pulp.frontend.torch_program import (
    activations,
    attention,
    comparisons,
    convolutions,
    elementwise,
    gathering,
    movement,
    normalizations,
    padding,
    pooling,
    products,
    quantization,
    recurrent,
    reductions,
    resizing,
    shapes,
)

OPERATORS: dict[str, Callable[..., Any]] = {
    **activations.OPERATORS,
    **attention.OPERATORS,
    **comparisons.OPERATORS,
    **convolutions.OPERATORS,
    **elementwise.OPERATORS,
    **gathering.OPERATORS,
    **movement.OPERATORS,
    **normalizations.OPERATORS,
    **padding.OPERATORS,
    **pooling.OPERATORS,
    **products.OPERATORS,
    **quantization.OPERATORS,
    **recurrent.OPERATORS,
    **reductions.OPERATORS,
    **resizing.OPERATORS,
    **shapes.OPERATORS,
}
