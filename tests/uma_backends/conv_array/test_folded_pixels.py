"""1x1 convolutions over lines and small pictures: pixels one behind the other fill the subtiles of arrays."""

from pathlib import Path

import pytest

from tests.simulated.single_convolution import Convolution

pytest.importorskip("onnxruntime")

# A line, pictures of a little more than a subtile, several of them, and one whose rows stay rows.
LAYERS = {
    "line": Convolution((1,), (131,), 40, 0, 36, quick=True),
    "one_pixel": Convolution((1,), (1,), 64, 0, 20),
    "picture": Convolution((1, 1), (8, 8), 36, 0, 44, quick=True),
    "two_pictures": Convolution((1, 1), (7, 7), 24, 0, 32, batch=2),
    "large_line": Convolution((1,), (2000,), 32, 0, 64),
    "rows_stay": Convolution((1, 1), (12, 12), 32, 0, 32),
}


@pytest.mark.parametrize(("target", "soc"), [("uma-neureka", "siracusa"), ("uma-ne16", "gap9")])
@pytest.mark.parametrize("name", [n if e.quick else pytest.param(n, marks=pytest.mark.slow) for n, e in LAYERS.items()])
def test_it_equals_onnxruntime(name: str, target: str, soc: str, tmp_path: Path) -> None:
    layers = LAYERS[name].run(tmp_path, target=target, soc=soc)["layers"]
    assert name == "one_pixel" or target.removeprefix("uma-") in {layer["engine"] for layer in layers}


def test_a_line_takes_no_longer_than_a_picture(tmp_path: Path) -> None:
    line, picture = (
        Convolution(kernel, size, 64, 0, 64).run(tmp_path, target="uma-neureka")["cycles"]
        for kernel, size in (((1,), (144,)), ((1, 1), (12, 12)))
    )
    assert line < 1.1 * picture
