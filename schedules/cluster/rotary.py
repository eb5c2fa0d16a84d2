"""Rotary positions on pairs of integers."""

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.kernel_cycles import Work, share, work


def applies(layer: Layer) -> bool:
    """Heads of an even size."""
    return layer.inputs[1].spec.shape[1] % 2 == 0


class RotaryKernel(KernelForm):
    kernel = "rotary"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(0), TileAxis(1, self.layer.inputs[1].spec.shape[1]))

    def fields(self, call: Arguments, box: Box) -> Fields:
        x, rotation = self.layer.inputs
        size = rotation.spec.shape[1]
        return {
            "x": call.load("x", x, box),
            "rotation": call.load("rotation", rotation, Box((box.start[0], 0), (box.size[0], size))),
            "positions": box.size[0], "heads": box.size[1] // size, "size": size,
        }  # fmt: skip


@work("rotary")
def rotary_work(f: Fields, cores: int) -> Work:
    mine = share(f["positions"] * f["heads"], cores)
    return {"call": 1, "head": mine, "pair": mine * f["size"] // 2}


register("rotary", Schedule(applies, RotaryKernel))
