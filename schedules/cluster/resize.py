"""Resizing of images, cut into rows of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm, requant_fields
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.resize import fraction_bits, is_copy
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

_NAMES = ("rows", "row_weights", "columns", "column_weights")
_TIES = ("real_rows", "real_columns", "values", "thresholds")
_BYTES = ("int8", "uint8")


def applies(layer: Layer) -> bool:
    """Bytes, channels last."""
    known = all(t.data is not None for t in layer.inputs[1:])
    types = {layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype}
    return known and layer.attributes["layout"] == "NHWC" and types <= set(_BYTES)


@dataclass(frozen=True)
class ResizeKernel(KernelForm):
    name: str = "resize kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        copies = is_copy(a)
        names = ("rows", "columns") if copies else _NAMES
        of = dict(zip(names, layer.inputs[1:], strict=False))
        rows = of["rows"].data
        assert rows is not None
        used = rows[box.start[1] : box.start[1] + box.size[1]]
        first, last = int(used.min()), int(used.max())
        _, _, width, channels = layer.inputs[0].spec.shape
        arguments = Arguments()
        x = arguments.load(
            "x", layer.inputs[0], Box((box.start[0], first, 0, 0), (1, last + 1 - first, width, channels))
        )
        fields: dict[str, Any] = dict.fromkeys((*_NAMES, *_TIES), 0)
        for name, tensor in of.items():
            part = (box.start[1], box.size[1]) if name.startswith("row") else (0, tensor.spec.shape[0])
            fields[name] = arguments.load(name, tensor, Box((part[0], 0), (part[1], tensor.spec.shape[1])))
        rule = Requant() if copies else Requant.of(a)
        if not copies and a["ties"]:
            of_ties = dict(zip(_TIES, layer.inputs[7:], strict=True))
            fields["real_rows"] = arguments.load(
                "real_rows", of_ties["real_rows"], Box((box.start[1], 0), (box.size[1], rows.shape[1]))
            )
            fields |= {n: arguments.load_whole(n, of_ties[n]) for n in _TIES[1:]}
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        fields |= {
            "x": x, "y": Pointer(y), "first_row": first, "width": width, "channels": channels,
            "out_height": box.size[1], "out_width": box.size[2], "row_taps": a["taps"][0],
            "column_taps": a["taps"][1], "middle": 0 if copies else a["middle"],
            "fraction": 0 if copies else fraction_bits(a), "slack": 0 if copies else a["slack"],
            "zero_point": 0 if copies else a["zero_point"], "x_type": TYPES[layer.inputs[0].spec.dtype],
            "y_type": TYPES[layer.outputs[0].spec.dtype],
            **requant_fields(arguments, "requant", rule, [] if copies else layer.inputs[5:7]),
        }  # fmt: skip
        return arguments.finish("resize", "resize", fields, (y, layer.outputs[0], box), self.costs)
