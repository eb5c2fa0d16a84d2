"""Mamba of `transformers` with a fixed length: the exporters write its scan step by step."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = [pytest.mark.torch, pytest.mark.slow]
TOKENS, VOCABULARY = 6, 64


class Logits(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Of all tokens, without a cache."""

    def __init__(self) -> None:
        super().__init__()
        marks = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 0)
        sizes = {"hidden_size": 24, "state_size": 4, "num_hidden_layers": 2, "time_step_rank": 3, "conv_kernel": 4}
        torch.manual_seed(1)
        config = transformers.MambaConfig(vocab_size=VOCABULARY, use_mambapy=False, **sizes, **marks)
        self.model = transformers.MambaForCausalLM(config).eval()

    def forward(self, tokens: Any) -> Any:
        return self.model(tokens, use_cache=False).logits


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("soc", ["siracusa", "host"])
def test_a_text_of_fixed_length(exporter: str, soc: str, tmp_path: Path) -> None:
    tokens, path = torch.randint(0, VOCABULARY, (1, TOKENS)), tmp_path / "mamba.onnx"
    names: dict[str, Any] = {"input_names": ["tokens"], "output_names": ["logits"]}
    newer = {"dynamo": True, "external_data": False, "verbose": False}
    if exporter == "dynamo":
        pytest.importorskip("onnxscript", reason="onnxscript, which this exporter needs, is not installed")
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        how = newer if exporter == "dynamo" else {"dynamo": False, "opset_version": 17}
        torch.onnx.export(Logits(), (tokens,), path, **how, **names)
    feeds = {"tokens": tokens.numpy()}
    wanted = onnxruntime.InferenceSession(str(path)).run(None, feeds)[0]
    effort = {} if soc == "host" else {"effort": "rough"}
    (found,) = tvm_pulp.compile(path, target="c", soc=soc, **effort).run(feeds).outputs.values()
    np.testing.assert_allclose(found, wanted, atol=1e-5)
