"""What a converter of one operator may ask of the importer that calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Importer(Protocol):
    """An importer of ONNX graphs."""

    bb: Any  # Relax's block builder
    opset: Any

    def stock(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """TVM's own conversion of an operator."""


class QuantizedImporter(Importer, Protocol):
    """An importer of quantized graphs."""

    def standard(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """The result of a standard operator."""

    def dequantize(self, x: Any, scale: Any, zero_point: Any, axis: int = 0) -> Any:
        """Integers as floats."""

    def quantize(self, x: Any, scale: Any, zero_point: Any, like: Any = None, axis: int = 0) -> Any:
        """Floats as integers; without a zero point the type is that of `like`, else uint8."""
