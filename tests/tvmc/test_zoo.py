"""`tvmc zoo` lists every model that `zoo:NAME` takes, with what building it gives."""

import numpy as np
import pytest

from tvm_pulp.frontend.zoo import build, names
from tvm_pulp.frontend.zoo.catalog import ENCODERS, find
from tvm_pulp.frontend.zoo.decoders import MODELS, build_decoder
from tvm_pulp.frontend.zoo.listing import matrix_elements
from tvm_pulp.tvmc.main import main


def test_every_model_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [f"zoo:{name}" for name in (*names(), *ENCODERS, *MODELS)]
    assert "image uint8[1, 3, 32, 32]" in next(line for line in lines if line.startswith("zoo:resnet8 "))
    assert "78,062 parameters" in next(line for line in lines if line.startswith("zoo:resnet8 "))


_LARGE = ("mobilenetv1_1.0_128", "mobilebert", "mobilebert_narrow", "dinov2_layer", "whisper_layer")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in _LARGE else n for n in (*names(), *ENCODERS)]
)
def test_parameters_are_those_of_the_model(name: str) -> None:
    assert sum(int(np.prod(t.dims)) for t in build(name).graph.initializer) == find(name).parameters


def test_matrices_of_a_decoder() -> None:
    weights = build_decoder("llama_0.5m")
    blocks = [linear.weight.size for b in weights.blocks for linear in vars(b).values() if hasattr(linear, "weight")]
    assert weights.embedding.size + sum(blocks) == matrix_elements(weights.shape)
