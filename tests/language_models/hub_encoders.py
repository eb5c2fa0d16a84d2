"""Encoder-decoders of `transformers` with small random weights, exported with caches as their users do."""

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.language_models.exported_decoders import quantized
from tests.language_models.hub_decoders import quantized_program

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
            elif "norm" in name:
                # With ones, values of a norm behind a quantized table are multiples of one number, and ties abound.
                weights.add_(0.2 * torch.randn_like(weights))
    return model


def features(family: str, seed: int = 0) -> Any:
    """What the encoder reads."""
    torch.manual_seed(9 + seed)
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


def given(model: Any, family: str, form: str, seed: int = 0) -> dict[str, Any]:
    """Inputs beside tokens, positions and caches."""
    read = features(family, seed)
    if form == "whole":
        return {"input_features": read}
    with torch.no_grad():
        states = model.get_encoder()(read)[0]
        if form == "states":
            return {"encoder_hidden_states": states}
        out = model(encoder_outputs=(states,), decoder_input_ids=torch.tensor([[1]]), use_cache=True)
    pairs = out.past_key_values.cross_attention_cache.layers
    return {f"encoder.{n}.{k}": t for n, p in enumerate(pairs) for k, t in (("key", p.keys), ("value", p.values))}


def _arguments(step: Step, more: dict[str, Any]) -> tuple[Any, ...]:
    """Three tokens behind five others."""
    past = tuple(torch.randn(1, 4, 5, 8) for _ in range(2 * step.layers))
    return (torch.randint(3, VOCABULARY, (1, 3)), torch.arange(5, 8)[None], *past, *more.values())


def _open(step: Step, more: dict[str, Any]) -> tuple[Any, ...]:
    """Which lengths are open."""
    free = torch.export.Dim.DYNAMIC
    return ({1: free}, {1: free}, *({2: free} for _ in range(2 * step.layers)), *({} for _ in more))


def _nested(shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """As a function with an argument for all but the first two has them."""
    return (*shapes[:2], shapes[2:])


@functools.cache
def exported(family: str, form: str, exporter: str, folder: Path) -> bytes:
    """The file."""
    model = build(family)
    step, more = Step(model, form), given(model, family, form)
    arguments = _arguments(step, more)
    kinds = [f"{layer}.{kind}" for layer in range(step.layers) for kind in ("key", "value")]
    pasts, presents = [f"past.{k}" for k in kinds], [f"present.{k}" for k in kinds]
    names = {"input_names": ["input_ids", "position_ids", *pasts, *more], "output_names": ["logits", *presents]}
    path = folder / f"{family}_{form}_{exporter}.onnx"
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        if exporter == "torchscript":
            axes: dict[str, Any] = {name: {1: "sequence"} for name in ("input_ids", "position_ids", "logits")}
            axes |= {name: {2: "past"} for name in pasts} | {name: {2: "total"} for name in presents}
            torch.onnx.export(step, arguments, path, dynamic_axes=axes, opset_version=17, dynamo=False, **names)
        else:
            torch.onnx.export(
                step, arguments, path, dynamic_shapes=_nested(_open(step, more)), dynamo=True,
                external_data=False, verbose=False, **names,
            )  # fmt: skip
    return path.read_bytes()


def exported_model(family: str, form: str, exporter: str, how: str, folder: Path) -> bytes:
    """The file as exported, or quantized by onnxruntime: `static`, `products`, those only, or `dynamic`."""
    content, model = exported(family, form, exporter, folder), build(family)
    if how == "float":
        return content

    def texts(seed: int) -> dict[str, np.ndarray]:
        return {name: tensor.numpy() for name, tensor in given(model, family, form, seed).items()}

    return quantized(onnx.load_model_from_string(content), VOCABULARY, how, folder, texts)


@functools.cache
def exported_program(family: str, form: str, how: str) -> Any:
    """A program of `torch.export` with open lengths, as it is or by PT2E."""
    model = build(family)
    step, more = Step(model, form), given(model, family, form)
    shapes, arguments = _open(step, more), _arguments(step, more)
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        program = torch.export.export(step, arguments, dynamic_shapes=_nested(shapes))
        if how == "float":
            return program
        samples = [_arguments(step, given(model, family, form, seed)) for seed in range(1, 5)]
        return quantized_program(program, samples, shapes)


def program_logits(program: Any, text: list[int], more: dict[str, Any]) -> np.ndarray:
    """What PyTorch computes with a program, token by token."""
    module = program.module(check_guards=False)
    # It was traced for several tokens, and says so.
    module._forward_pre_hooks.clear()
    past, found = [torch.zeros(1, 4, 0, 8) for _ in range(4)], []
    with torch.no_grad():
        for place, token in enumerate(text):
            logits, *past = module(torch.tensor([[token]]), torch.tensor([[place]]), *past, *more.values())
            found.append(logits[0].numpy())
    return np.concatenate(found)


def by_optimum(family: str, folder: Path) -> tuple[Path, Path]:
    """Files of optimum: an encoder, and a decoder that begins a text by one branch and goes on by another."""
    hub = pytest.importorskip("optimum.exporters.onnx", reason="optimum-onnx is not installed")
    hub.onnx_export_from_model(build(family), folder, task="text2text-generation-with-past", do_validation=False)
    return folder / "encoder_model.onnx", folder / "decoder_model_merged.onnx"
