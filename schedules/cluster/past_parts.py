"""Attention of one new token over a cache in three parts. Heads are split into tiles where L1 is small."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import SLACK, Arguments, KernelForm
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

_LARGEST_HEAD = 64


def _size(layer: Layer) -> int:
    columns = layer.outputs[0].spec.shape[1]
    return {
        "past_scores": layer.inputs[0].spec.elements // int(layer.attributes["heads"]),
        "past_mix": columns - 2,
        "past_mean": columns // int(layer.attributes["heads"]),
    }[layer.operator]


def applies(layer: Layer) -> bool:
    """Heads of whole words, logits that fit 32 bits."""
    size = _size(layer)
    return bool(
        size % 4 == 0
        and size <= _LARGEST_HEAD
        and layer.attributes["shift"] >= 1
        and size * 128 * 128 * abs(layer.attributes["mul"]) < 1 << 30
    )


def applies_mean(layer: Layer) -> bool:
    """Heads of whole words, means that the kernel's short reciprocal divides exactly."""
    return _size(layer) % 4 == 0 and 511 * 255 * int(layer.attributes["keys"]) < 1 << 27


@dataclass(frozen=True)
class _Part(KernelForm):
    @property
    def size(self) -> int:
        return _size(self.layer)

    @property
    def group(self) -> int:
        return int(self.layer.attributes["heads"]) // int(self.layer.attributes["kv_heads"])

    def columns(self, tensor: Tensor, first: int, heads: int) -> Box:
        """The columns of some heads."""
        rows = tensor.spec.shape[0]
        return Box((0, first * self.size), (rows, heads * self.size))

    def shared(self, tensor: Tensor, first: int, heads: int) -> Box:
        """The columns of the keys or values that some heads share."""
        return self.columns(tensor, first // self.group, heads // self.group)

    def heads(self, heads: int) -> dict[str, int]:
        return {"heads": heads, "group": self.group, "size": self.size}


@dataclass(frozen=True)
class PastScoresKernel(_Part):
    name: str = "past_scores kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0, self.group),)

    def recipe(self, box: Box) -> Recipe:
        q, past, length = self.layer.inputs
        first, heads = box.start[0], box.size[0]
        arguments = Arguments()
        y, capacity = Local("y", TensorSpec(box.size, "int32"), SLACK), past.spec.shape[0]
        fields: dict[str, Pointer | int] = {"q": arguments.load("q", q, self.columns(q, first, heads))}
        fields["past_k"], apart = arguments.rows("past_k", past, self.shared(past, first, heads))
        fields |= {
            "length": arguments.load_whole("length", length), "y": Pointer(y), **self.heads(heads),
            "past_stride": apart, "capacity": capacity,
            "mul": self.layer.attributes["mul"], "shift": self.layer.attributes["shift"],
        }  # fmt: skip
        # Plans are made for a cache that is half full.
        expected, target = {"keys": capacity // 2}, (y, self.layer.outputs[0], box)
        return arguments.finish("past_scores", "past_scores", fields, target, self.costs, expected=expected)


@dataclass(frozen=True)
class PastMixKernel(_Part):
    name: str = "past_mix kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0, self.group),)

    def recipe(self, box: Box) -> Recipe:
        q, k, scores, past, length, table = self.layer.inputs
        first, heads = box.start[0], box.size[0]
        arguments = Arguments()
        y, capacity = Local("y", TensorSpec(box.size, "int32"), SLACK), past.spec.shape[0]
        scratch, stride = self.scratch(2 * capacity + 4)
        fields: dict[str, Pointer | int] = {
            "q": arguments.load("q", q, self.columns(q, first, heads)),
            "k": arguments.load("k", k, self.shared(k, first, heads)),
            "scores": arguments.load("scores", scores, Box((first, 0), (heads, capacity + 1))),
        }  # fmt: skip
        fields["past_v"], apart = arguments.rows("past_v", past, self.shared(past, first, heads))
        fields |= {
            "length": arguments.load_whole("length", length),
            "exponential": arguments.load_whole("table", table), "y": Pointer(y), "scratch": Pointer(scratch),
            "scratch_stride": stride, **self.heads(heads), "past_stride": apart, "capacity": capacity,
            "mul": self.layer.attributes["mul"], "shift": self.layer.attributes["shift"],
        }  # fmt: skip
        expected, target = {"keys": capacity // 2}, (y, self.layer.outputs[0], box)
        return arguments.finish("past_mix", "past_mix", fields, target, self.costs, [scratch], expected)


@dataclass(frozen=True)
class PastMeanKernel(_Part):
    name: str = "past_mean kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1, self.size * self.group),)

    def recipe(self, box: Box) -> Recipe:
        mix, v = self.layer.inputs
        first, heads = box.start[1] // self.size, box.size[1] // self.size
        arguments, y = Arguments(), Local("y", TensorSpec(box.size, "int8"), SLACK)
        fields = {
            "mix": arguments.load("mix", mix, Box((first, 0), (heads, self.size + 2))),
            "v": arguments.load("v", v, self.shared(v, first, heads)), "y": Pointer(y), **self.heads(heads),
        }  # fmt: skip
        return arguments.finish("past_mean", "past_mean", fields, (y, self.layer.outputs[0], box), self.costs)
