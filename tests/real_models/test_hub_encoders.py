"""Encoders of `transformers` with small random weights: what onnxruntime computes, on this machine."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

pytestmark = pytest.mark.torch
SIZES = {
    "vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 32,
}  # fmt: skip
LENGTH = 12
# RoBERTa computes positions from the tokens.
KINDS = {"Bert": {}, "Roberta": {"pad_token_id": 1}}


class Encoder(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Tokens and mask to the last layer."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


@pytest.mark.parametrize("exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_encoders(kind: str, exporter: str, tmp_path: Path) -> None:
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **KINDS[kind]})
    torch.manual_seed(1)
    model = Encoder(transformers.AutoModel.from_config(config, attn_implementation="eager").eval())
    tokens = torch.randint(3, SIZES["vocab_size"], (1, LENGTH))
    mask = torch.ones(1, LENGTH, dtype=torch.long)
    path = tmp_path / "encoder.onnx"
    names = {"input_names": ["input_ids", "attention_mask"], "output_names": ["hidden"]}
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        if exporter == "dynamo":
            pytest.importorskip("onnxscript", reason="onnxscript, which this exporter needs, is not installed")
            torch.onnx.export(model, (tokens, mask), path, dynamo=True, external_data=False, verbose=False, **names)
        else:
            torch.onnx.export(model, (tokens, mask), path, dynamo=False, opset_version=17, **names)
    mask[0, -3:] = 0
    session = onnxruntime.InferenceSession(path)
    wanted = {i.name for i in session.get_inputs()}
    given = {"input_ids": tokens.numpy(), "attention_mask": mask.numpy()}
    given = {name: value for name, value in given.items() if name in wanted}
    (expected,) = session.run(None, given)
    found = tvm_pulp.compile(path, target="c").run(given).outputs["hidden"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
