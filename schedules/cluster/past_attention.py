"""Attention over a cache, and rotary positions on pairs. Heads, or queries, are split into tiles where L1 is small."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import SLACK, Arguments, KernelForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.past_attention import head_size
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

_LARGEST_HEAD = 64


def applies(layer: Layer) -> bool:
    """Heads of whole words, logits that fit 32 bits, means that the kernel's short reciprocal divides exactly."""
    size = head_size(layer.attributes, layer.inputs[0].spec)
    keys = layer.inputs[3].spec.shape[0] + layer.inputs[0].spec.shape[0]
    table = layer.inputs[6].data
    return bool(
        size % 4 == 0
        and size <= _LARGEST_HEAD
        and layer.attributes["shift"] >= 1
        and size * 128 * 128 * abs(layer.attributes["mul"]) < 1 << 30
        and 511 * 255 * keys < 1 << 27
        and table is not None
        and table.reshape(-1)[0] == 255
    )


@dataclass(frozen=True)
class PastAttentionKernel(KernelForm):
    name: str = "past_attention kernel"

    @property
    def size(self) -> int:
        return head_size(self.layer.attributes, self.layer.inputs[0].spec)

    @property
    def group(self) -> int:
        return int(self.layer.attributes["heads"]) // int(self.layer.attributes["kv_heads"])

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1, self.size * self.group), TileAxis(0))

    def recipe(self, box: Box) -> Recipe:
        layer, size, group = self.layer, self.size, self.group
        q, k, v, past_k, past_v, length, table = layer.inputs
        shared = (box.start[1] // group, box.size[1] // group)
        capacity, rows = past_k.spec.shape[0], k.spec.shape[0]
        new, past = (Box((0, shared[0]), (count, shared[1])) for count in (rows, capacity))
        arguments = Arguments()
        fields: dict[str, Pointer | int] = {
            "q": arguments.load("q", q, box), "k": arguments.load("k", k, new), "v": arguments.load("v", v, new),
        }  # fmt: skip
        fields["past_k"], apart = arguments.rows("past_k", past_k, past)
        fields["past_v"], _ = arguments.rows("past_v", past_v, past)
        fields |= {
            "length": arguments.load_whole("length", length), "exponential": arguments.load_whole("table", table),
        }  # fmt: skip
        y = Local("y", TensorSpec(box.size, "int8"), SLACK)
        scratch, stride = self.scratch(6 * (capacity + rows) + 48)
        fields |= {
            "y": Pointer(y), "scratch": Pointer(scratch), "scratch_stride": stride, "queries": box.size[0],
            "first": box.start[0], "heads": box.size[1] // size, "group": group, "size": size,
            "q_stride": box.size[1], "k_stride": shared[1], "past_stride": apart,
            "mul": layer.attributes["mul"], "shift": layer.attributes["shift"],
        }  # fmt: skip
        # Plans are made for a cache that is half full.
        expected = {"keys": (capacity + rows) // 2}
        target = (y, layer.outputs[0], box)
        return arguments.finish("past_attention", "past_attention", fields, target, self.costs, [scratch], expected)


def applies_rotary(layer: Layer) -> bool:
    """Heads of an even size."""
    return layer.inputs[1].spec.shape[1] % 2 == 0


@dataclass(frozen=True)
class RotaryKernel(KernelForm):
    name: str = "rotary kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0), TileAxis(1, self.layer.inputs[1].spec.shape[1]))

    def recipe(self, box: Box) -> Recipe:
        x, rotation = self.layer.inputs
        size = rotation.spec.shape[1]
        arguments = Arguments()
        y = Local("y", TensorSpec(box.size, "int8"), SLACK)
        turned = Box((box.start[0], 0), (box.size[0], size))
        fields = {
            "x": arguments.load("x", x, box), "rotation": arguments.load("rotation", rotation, turned),
            "y": Pointer(y), "positions": box.size[0], "heads": box.size[1] // size, "size": size,
        }  # fmt: skip
        return arguments.finish("rotary", "rotary", fields, (y, self.layer.outputs[0], box), self.costs)
