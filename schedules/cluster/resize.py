"""Resizing of images, cut into rows of the result."""

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, given, share, words, work
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.resize import ResizeAttributes, fraction_bits, is_copy
from tvm_pulp.qnn.tensor_spec import BYTES

_NAMES = ("rows", "row_weights", "columns", "column_weights")
_TIES = ("real_rows", "real_columns", "values", "thresholds")


def applies(layer: Layer) -> bool:
    """Bytes, channels last."""
    known = all(t.data is not None for t in layer.inputs[1:])
    types = {layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype}
    return known and types <= set(BYTES)


@schedule("resize", applies)
class ResizeKernel(KernelForm):
    cut = (TileAxis(1), TileAxis(0, limit=1))

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, a, x = self.layer, ResizeAttributes.of(self.layer), self.layer.inputs[0]
        copies = is_copy(a)
        of = dict(zip(("rows", "columns") if copies else _NAMES, layer.inputs[1:], strict=False))
        used = of["rows"].values[box.span(1)]
        first, last = int(used.min()), int(used.max())
        _, _, width, channels = x.spec.shape
        part = Box((box.start[0], first, 0, 0), (1, last + 1 - first, width, channels))
        fields: Fields = {"x": call.load("x", x, part), **dict.fromkeys((*_NAMES, *_TIES), 0)}
        if not copies and a.ties:
            of |= dict(zip(_TIES, layer.inputs[7:], strict=True))
        for name, tensor in of.items():
            if name.startswith(("row", "real_row")):
                fields[name] = call.load(name, tensor, Box((box.start[1], 0), (box.size[1], tensor.spec.shape[1])))
            else:
                fields[name] = call.load_whole(name, tensor)
        names = ("middle", "fraction", "slack", "zero_point")
        numbers = dict.fromkeys(names, 0) if copies else {"fraction": fraction_bits(a)}
        return fields | numbers | {
            "first_row": first, "width": width, "channels": channels, "out_height": box.size[1],
            "out_width": box.size[2], "row_taps": a.taps[0], "column_taps": a.taps[1],
            **call.requant_member("requant", Requant() if copies else Requant.of(a), [] if copies else layer.inputs[5:7]
            ),
        }  # fmt: skip


@work("resize")
def resize_work(f: Fields, cores: int) -> Work:
    pixels, channels = share(f["out_height"] * f["out_width"], cores), f["channels"]
    if not given(f["column_weights"]):
        return {"copy_call": 1, "copy_pixel": pixels, "copy_word": pixels * words(channels)}
    small = f["row_taps"] == f["column_taps"] == 2 and f["middle"] == 0 and f["fraction"] <= 6 and channels % 4 == 0
    if small and (not f["slack"] if given(f["thresholds"]) else f["requant.kind"] == 4):
        return {"call": 1, "pixel": pixels, "near" if given(f["thresholds"]) else "scaled": pixels * channels}
    taps = f["row_taps"] * f["column_taps"]
    return {"plain_call": 1, "plain_element": pixels * channels, "plain_tap": pixels * channels * taps}
