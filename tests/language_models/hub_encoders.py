"""Encoder-decoders of `transformers` with small random weights, exported with caches as their users do."""

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

VOCABULARY, ENCODED = 80, 12
FAMILIES = ("t5", "whisper", "bart")
# What goes in beside tokens and caches: keys and values of every layer, states of the encoder, or what it reads.
FORMS = ("keys", "states", "whole")
_MARKS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}


def build(family: str, seed: int = 4) -> Any:
    """The model in PyTorch, its attention written out."""
    if family == "t5":
        sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
        config = transformers.T5Config(vocab_size=VOCABULARY, relative_attention_num_buckets=8, **sizes, **_MARKS)
        kind = transformers.T5ForConditionalGeneration
    else:
        sizes = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4}
        sizes |= {"decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
        if family == "whisper":
            more = {"num_mel_bins": 8, "max_source_positions": ENCODED, "max_target_positions": 64}
            config = transformers.WhisperConfig(vocab_size=VOCABULARY, **sizes, **more, **_MARKS)
            kind = transformers.WhisperForConditionalGeneration
        else:
            config = transformers.BartConfig(
                vocab_size=VOCABULARY, max_position_embeddings=64, **sizes, **_MARKS, forced_eos_token_id=2
            )
            kind = transformers.BartForConditionalGeneration
    torch.manual_seed(seed)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.ndim > 1:
                size = 1 if "embed" in name or "shared" in name else weights[0].numel() ** 0.5
                weights.copy_(torch.randn_like(weights) / size)
    return model


def features(family: str) -> Any:
    """What the encoder reads."""
    torch.manual_seed(9)
    if family == "whisper":
        return torch.randn(1, 8, 2 * ENCODED)
    return torch.randint(3, VOCABULARY, (1, ENCODED))


class Step(torch.nn.Module):  # type: ignore[misc,name-defined]
    """New tokens behind caches, beside what an encoder makes, all as plain tensors."""

    def __init__(self, model: Any, form: str) -> None:
        super().__init__()
        self.model, self.form = model, form
        config = model.config
        self.layers = getattr(config, "num_decoder_layers", None) or config.decoder_layers

    def forward(self, tokens: Any, position: Any, *rest: Any) -> Any:
        own, given = rest[: 2 * self.layers], rest[2 * self.layers :]
        cache = transformers.EncoderDecoderCache(
            transformers.DynamicCache(list(zip(own[::2], own[1::2], strict=True))),
            transformers.DynamicCache(list(zip(given[::2], given[1::2], strict=True)))
            if self.form == "keys"
            else transformers.DynamicCache(),
        )
        states = self.model.get_encoder()(given[0])[0] if self.form == "whole" else given[0]
        if self.form == "keys":
            # Nothing is read of it but its size.
            states = given[0].new_zeros(1, ENCODED, self.model.config.d_model)
        more = {"decoder_position_ids": position} if self.model.config.model_type == "whisper" else {}
        out = self.model(
            encoder_outputs=(states,), decoder_input_ids=tokens, past_key_values=cache, use_cache=True, **more
        )
        pairs = out.past_key_values.self_attention_cache.layers
        return (out.logits, *(t for layer in pairs for t in (layer.keys, layer.values)))


def given(model: Any, family: str, form: str) -> dict[str, Any]:
    """Inputs beside tokens, positions and caches."""
    read = features(family)
    if form == "whole":
        return {"input_features": read}
    with torch.no_grad():
        states = model.get_encoder()(read)[0]
        if form == "states":
            return {"encoder_hidden_states": states}
        out = model(encoder_outputs=(states,), decoder_input_ids=torch.tensor([[1]]), use_cache=True)
    pairs = out.past_key_values.cross_attention_cache.layers
    return {f"encoder.{n}.{k}": t for n, p in enumerate(pairs) for k, t in (("key", p.keys), ("value", p.values))}


@functools.cache
def exported(family: str, form: str, exporter: str, folder: Path) -> tuple[bytes, dict[str, np.ndarray]]:
    """The file, and what is given to it."""
    model = build(family)
    step, more = Step(model, form), given(model, family, form)
    heads = 4
    past = tuple(torch.randn(1, heads, 5, 8) for _ in range(2 * step.layers))
    arguments = (torch.randint(3, VOCABULARY, (1, 3)), torch.arange(5, 8)[None], *past, *more.values())
    kinds = [f"{layer}.{kind}" for layer in range(step.layers) for kind in ("key", "value")]
    pasts, presents = [f"past.{k}" for k in kinds], [f"present.{k}" for k in kinds]
    names = {"input_names": ["tokens", "positions", *pasts, *more], "output_names": ["logits", *presents]}
    path = folder / f"{family}_{form}_{exporter}.onnx"
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        if exporter == "torchscript":
            axes: dict[str, Any] = {"tokens": {1: "sequence"}, "positions": {1: "sequence"}, "logits": {1: "sequence"}}
            axes |= {name: {2: "past"} for name in pasts} | {name: {2: "total"} for name in presents}
            torch.onnx.export(step, arguments, path, dynamic_axes=axes, opset_version=17, dynamo=False, **names)
        else:
            free = torch.export.Dim.DYNAMIC
            shapes = ({1: free}, {1: free}, (*({2: free} for _ in past), *({} for _ in more)))
            torch.onnx.export(
                step, arguments, path, dynamic_shapes=shapes, dynamo=True, external_data=False, verbose=False, **names
            )
    return path.read_bytes(), {name: tensor.numpy() for name, tensor in more.items()}


def by_optimum(family: str, folder: Path) -> tuple[Path, Path]:
    """Files of optimum: an encoder, and a decoder that begins a text by one branch and goes on by another."""
    hub = pytest.importorskip("optimum.exporters.onnx", reason="optimum-onnx is not installed")
    hub.onnx_export_from_model(build(family), folder, task="text2text-generation-with-past", do_validation=False)
    return folder / "encoder_model.onnx", folder / "decoder_model_merged.onnx"
