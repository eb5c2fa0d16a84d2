"""Decoders of `transformers` with small random weights, exported with caches and symbolic lengths as its users do."""

import functools
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.language_models.exported_decoders import merged, quantized

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

VOCABULARY = 96
_SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
_GPT2 = {
    "vocab_size": VOCABULARY, "n_embd": 32, "n_inner": 64, "n_layer": 2, "n_head": 4, "n_positions": 64,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """A kind of decoder: its name in `transformers`, and what its configuration says beside sizes."""

    kind: str
    more: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=lambda: _SIZES)


KINDS = {
    "llama": Family("Llama", {"num_key_value_heads": 2}),
    "smollm": Family("Llama", {"num_key_value_heads": 2, "num_attention_heads": 6, "hidden_size": 36,
                               "tie_word_embeddings": True}),
    "mistral": Family("Mistral", {"num_key_value_heads": 2, "sliding_window": None}),
    "mistral_window": Family("Mistral", {"num_key_value_heads": 2, "sliding_window": 6}),
    "qwen2": Family("Qwen2", {"num_key_value_heads": 1}),
    "gemma": Family("Gemma", {"num_key_value_heads": 1, "head_dim": 16}),
    "gpt2": Family("GPT2", sizes=_GPT2),
    "gpt_neox": Family("GPTNeoX", {"rotary_pct": 0.5}),
    "opt": Family("OPT", {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "phi": Family("Phi", {"partial_rotary_factor": 0.5}),
}  # fmt: skip


def build(family: str, layers: int = 2, seed: int = 4) -> Any:
    """The model in PyTorch, its attention written out."""
    made = KINDS[family]
    config = getattr(transformers, f"{made.kind}Config")(**{**made.sizes, **made.more})
    config.num_hidden_layers = layers
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        # Random weights of the usual size make logits that hardly differ.
        for name, weights in model.named_parameters():
            if weights.ndim > 1:
                weights.copy_(torch.randn_like(weights) / (weights.shape[-1] ** 0.5 if "embed" not in name else 1))
            elif "norm" in name or "ln" in name:
                weights.add_(0.2 * torch.randn_like(weights))
    return model


class WithCaches(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Tokens, mask, positions and caches as plain tensors: what exporters of decoders hand to the model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Any, attention_mask: Any, position_ids: Any, *past: Any) -> Any:
        cache = transformers.DynamicCache(list(zip(past[::2], past[1::2], strict=True)))
        positions = {} if self.model.config.model_type == "opt" else {"position_ids": position_ids}
        out = self.model(
            input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True, **positions
        )
        return (out.logits, *(t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)))


def _cache_shape(config: Any) -> tuple[int, int]:
    """Heads of a cache and their size."""
    heads = config.num_attention_heads
    return (
        getattr(config, "num_key_value_heads", None) or heads,
        getattr(config, "head_dim", None) or config.hidden_size // heads,
    )


def _arguments(model: Any) -> tuple[Any, ...]:
    """Three tokens behind five others."""
    heads, size = _cache_shape(model.config)
    past = tuple(torch.randn(1, heads, 5, size) for _ in range(2 * model.config.num_hidden_layers))
    tokens = torch.randint(3, VOCABULARY, (1, 3))
    return (tokens, torch.ones(1, 8, dtype=torch.long), torch.arange(5, 8)[None], *past)


def _open(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    free = torch.export.Dim.DYNAMIC
    return (*({1: free},) * 3, *({2: free} for _ in arguments[3:]))


def _nested(shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """As a function with an argument for any number of caches has them."""
    return (*shapes[:3], shapes[3:])


def export(family: str, exporter: str, path: Path) -> None:
    """Write the file."""
    model = build(family)
    if exporter == "optimum":
        hub = pytest.importorskip("optimum.exporters.onnx", reason="optimum-onnx is not installed")
        hub.onnx_export_from_model(
            model, path.parent / path.stem, task="text-generation-with-past", do_validation=False
        )
        (path.parent / path.stem / "model.onnx").rename(path)
        return
    arguments = _arguments(model)
    kinds = [f"{layer}.{kind}" for layer in range(model.config.num_hidden_layers) for kind in ("key", "value")]
    inputs = ["input_ids", "attention_mask", "position_ids", *(f"past_key_values.{k}" for k in kinds)]
    outputs = ["logits", *(f"present.{k}" for k in kinds)]
    names = {"input_names": inputs, "output_names": outputs}
    wrapped = WithCaches(model)
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        if exporter == "torchscript":
            axes: dict[str, Any] = {"input_ids": {1: "sequence"}, "attention_mask": {1: "total"}}
            axes |= {"position_ids": {1: "sequence"}, "logits": {1: "sequence"}}
            axes |= {name: {2: "past" if name in inputs else "total"} for name in (*inputs[3:], *outputs[1:])}
            torch.onnx.export(wrapped, arguments, path, dynamic_axes=axes, opset_version=17, dynamo=False, **names)
        else:
            torch.onnx.export(
                wrapped, arguments, path, dynamic_shapes=_nested(_open(arguments)), dynamo=True, external_data=False,
                verbose=False, **names,
            )  # fmt: skip


@functools.cache
def exported_file(family: str, exporter: str, folder: Path) -> Path:
    if exporter == "dynamo":
        pytest.importorskip("onnxscript", reason="onnxscript, which this exporter needs, is not installed")
    path = folder / f"{family}_{exporter}.onnx"
    export(family, exporter, path)
    onnx.checker.check_model(path)
    return path


def exported_model(family: str, exporter: str, how: str, folder: Path) -> bytes:
    """The file as exported, or quantized by onnxruntime: `static`, `dynamic`, or weights of 4 bits (`nbits`)."""
    if exporter == "merged":
        content = exported_model(family, "torchscript", how, folder)
        return bytes(merged(onnx.load_model_from_string(content)).SerializeToString())
    path = exported_file(family, exporter, folder)
    if how == "float":
        return path.read_bytes()
    if how == "nbits":
        # It needs packages that come with PyTorch's exporter.
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

        quantizer = MatMulNBitsQuantizer(onnx.load(path), bits=4, block_size=16, is_symmetric=True)
        quantizer.process()
        return bytes(quantizer.model.model.SerializeToString())
    return quantized(onnx.load(path), VOCABULARY, how, folder)


def quantized_program(program: Any, samples: list[tuple[Any, ...]], shapes: tuple[Any, ...]) -> Any:
    """A program by PT2E, its linear layers in int8; `shapes`: which lengths of its inputs are open."""
    pt2e = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e", reason="torchao is not installed")
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    # The quantizer that runs on other operators as well turns numbers beside positions into floats.
    quantizer = x86.X86InductorQuantizer()
    quantizer.set_module_type_qconfig(torch.nn.Linear, x86.get_default_x86_inductor_quantization_config())
    prepared = pt2e.prepare_pt2e(program.module(check_guards=False), quantizer)
    for sample in samples:
        prepared(*sample)
    return torch.export.export(pt2e.convert_pt2e(prepared), samples[0], dynamic_shapes=shapes)


@functools.cache
def exported_program(family: str, how: str) -> Any:
    """A program of `torch.export` with open lengths, as it is or by PT2E; of one layer: tracing takes long."""
    model = build(family, layers=1)
    arguments = _arguments(model)
    with warnings.catch_warnings(action="ignore"), torch.no_grad():
        program = torch.export.export(WithCaches(model), arguments, dynamic_shapes=_nested(_open(arguments)))
        if how == "float":
            return program
        return quantized_program(program, [arguments, *(_arguments(model) for _ in range(4))], _open(arguments))


def program_logits(program: Any, text: list[int]) -> np.ndarray:
    """What PyTorch computes with a program, token by token."""
    module = program.module(check_guards=False)
    # It was traced for several tokens, and says so.
    module._forward_pre_hooks.clear()
    shapes = [n.meta["val"].shape for n in program.graph.nodes if n.op == "placeholder" and n.name.startswith("past")]
    past = [torch.zeros(1, int(s[1]), 0, int(s[3])) for s in shapes]
    found = []
    with torch.no_grad():
        for place, token in enumerate(text):
            mask = torch.ones(1, place + 1, dtype=torch.long)
            logits, *past = module(torch.tensor([[token]]), mask, torch.tensor([[place]]), *past)
            found.append(logits[0].numpy())
    return np.concatenate(found)
