"""U-Nets of three levels (16, 32, 64 channels) for images of 64×64: up by ConvTranspose, or by bilinear Resize."""

from typing import Any

from tests.real_models.exported_graph import ExportedGraph


def _encoder(g: ExportedGraph) -> list[str]:
    """The values of the three levels."""
    pool: dict[str, Any] = {"ceil_mode": 0, "dilations": [1, 1], "kernel_shape": [2, 2], "pads": [0] * 4}
    x, levels, channels = g.input("input", [1, 3, 64, 64]), [], 3
    for filters in (16, 32, 64):
        if levels:
            x = g.node("MaxPool", x, strides=[2, 2], **pool)
        x = g.node("Relu", g.conv(x, channels, filters, 3))
        levels.append(x)
        channels = filters
    return levels


def _finish(g: ExportedGraph, x: str, channels: int) -> Any:
    result = g.conv(x, channels, 1, 1)
    g.output(result, [1, 1, 64, 64])
    return g.model()


def unet_transpose(exporter: str) -> Any:
    g = ExportedGraph("unet_transpose", exporter)
    top, middle, low = _encoder(g)
    x = g.conv(low, 64, 32, 2, stride=2, op="ConvTranspose", pads=[0, 0])
    x = g.node("Relu", g.conv(g.node("Concat", x, middle, axis=1), 64, 32, 3))
    x = g.conv(x, 32, 16, 2, stride=2, op="ConvTranspose", pads=[0, 0])
    return _finish(g, g.node("Concat", x, top, axis=1), 32)


def upsample(g: ExportedGraph, x: str, mode: str, coordinates: str) -> str:
    """nn.Upsample(scale_factor=2)."""
    scales = g.constant([1, 1, 2, 2])
    attributes: dict[str, Any] = {"coordinate_transformation_mode": coordinates, "cubic_coeff_a": -0.75, "mode": mode}
    if not g.legacy:
        attributes |= {"antialias": 0, "exclude_outside": 0, "extrapolation_value": 0.0}
        attributes["keep_aspect_ratio_policy"] = "stretch"
    return str(g.node("Resize", x, "", scales, nearest_mode="floor", **attributes))


def unet_resize(exporter: str) -> Any:
    g = ExportedGraph("unet_resize", exporter)
    top, middle, low = _encoder(g)
    x = upsample(g, low, "linear", "half_pixel")
    x = g.node("Relu", g.conv(g.node("Concat", x, middle, axis=1), 96, 32, 1))
    x = upsample(g, x, "linear", "half_pixel")
    x = g.node("Relu", g.conv(g.node("Concat", x, top, axis=1), 48, 16, 1))
    return _finish(g, x, 16)
