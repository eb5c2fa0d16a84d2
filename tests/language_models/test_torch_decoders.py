"""Decoders written in PyTorch, exported with caches and symbolic lengths, quantized with onnxruntime's own tool."""

import functools
import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.language_models.exported_decoders import Reference, quantized
from tvm_pulp.language_models.session import GenerationRequest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch

VOCABULARY, WIDTH, HEADS, KV_HEADS, LAYERS, HIDDEN = 96, 48, 4, 2, 2, 80
SIZE = WIDTH // HEADS
KINDS = [f"{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]


class RmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.8 + 0.4 * torch.rand(WIDTH))

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x: Any) -> Any:
    low, high = x.chunk(2, -1)
    return torch.cat((-high, low), -1)


class Block(nn.Module):
    def __init__(self, style: str) -> None:
        super().__init__()
        self.style, self.kv_heads = style, KV_HEADS if style == "llama" else HEADS
        kv_width, bias = self.kv_heads * SIZE, style != "llama"
        self.norm1, self.norm2 = (RmsNorm() if style == "llama" else nn.LayerNorm(WIDTH) for _ in range(2))
        self.q, self.o = (nn.Linear(WIDTH, WIDTH, bias=bias) for _ in range(2))
        self.k, self.v = (nn.Linear(WIDTH, kv_width, bias=bias) for _ in range(2))
        self.up, self.down = nn.Linear(WIDTH, HIDDEN, bias=bias), nn.Linear(HIDDEN, WIDTH, bias=bias)
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False) if style == "llama" else None

    def forward(self, x: Any, angles: Any, mask: Any, past_k: Any, past_v: Any) -> Any:
        batch, length, _ = x.shape
        y = self.norm1(x)
        q = self.q(y).view(batch, length, HEADS, SIZE).transpose(1, 2)
        k, v = (p(y).view(batch, length, self.kv_heads, SIZE).transpose(1, 2) for p in (self.k, self.v))
        if angles is not None:
            q, k = (p * angles[0] + turned(p) * angles[1] for p in (q, k))
        k, v = torch.cat((past_k, k), 2), torch.cat((past_v, v), 2)
        present = (k, v)
        if self.kv_heads != HEADS:
            group, total = HEADS // self.kv_heads, k.shape[2]
            k, v = (
                p[:, :, None].expand(batch, self.kv_heads, group, total, SIZE).reshape(batch, HEADS, total, SIZE)
                for p in (k, v)
            )
        weights = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(SIZE) + mask, -1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        y = self.norm2(x)
        if self.gate is not None:
            return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)), present
        return x + self.down(nn.functional.gelu(self.up(y))), present


class Decoder(nn.Module):
    def __init__(self, style: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block(style) for _ in range(LAYERS))
        self.norm = RmsNorm() if style == "llama" else nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.positions = nn.Embedding(512, WIDTH) if style == "gpt" else None
        self.register_buffer("rate", 10000.0 ** (-torch.arange(0, SIZE, 2) / SIZE))

    def forward(self, input_ids: Any, attention_mask: Any, position_ids: Any, *past: Any) -> Any:
        seen, length = past[0].shape[2], input_ids.shape[1]
        x, angles = self.embedding(input_ids), None
        if self.positions is not None:
            x = x + self.positions(position_ids)
        else:
            angle = position_ids[:, :, None].float() * self.rate
            both = torch.cat((angle, angle), -1)[:, None]
            angles = (both.cos(), both.sin())
        rows, columns = torch.arange(seen, seen + length)[:, None], torch.arange(seen + length)[None]
        visible = (columns <= rows)[None, None] & (attention_mask[:, None, None] > 0)
        mask = torch.where(visible, 0.0, -30.0)
        presents: list[Any] = []
        for layer, block in enumerate(self.blocks):
            x, present = block(x, angles, mask, past[2 * layer], past[2 * layer + 1])
            presents += present
        return (self.head(self.norm(x)), *presents)


def export(style: str, exporter: str, path: Path) -> None:
    torch.manual_seed(4)
    model = Decoder(style).eval()
    past = [torch.randn(1, model.blocks[0].kv_heads, 5, SIZE) for _ in KINDS]
    arguments = (
        torch.randint(0, VOCABULARY, (1, 3)),
        torch.ones(1, 8, dtype=torch.long),
        torch.arange(5, 8)[None],
        *past,
    )
    inputs = ["input_ids", "attention_mask", "position_ids", *(f"past_key_values.{k}" for k in KINDS)]
    outputs = ["logits", *(f"present.{k}" for k in KINDS)]
    names = {"input_names": inputs, "output_names": outputs}
    if exporter == "torchscript":
        axes: dict[str, Any] = {"input_ids": {1: "sequence"}, "attention_mask": {1: "total"}}
        axes |= {"position_ids": {1: "sequence"}, "logits": {1: "sequence"}}
        axes |= {name: {2: "past" if name in inputs else "total"} for name in (*inputs[3:], *outputs[1:])}
        torch.onnx.export(model, arguments, path, dynamic_axes=axes, opset_version=17, dynamo=False, **names)
        return
    free = torch.export.Dim.DYNAMIC
    shapes = ({1: free}, {1: free}, {1: free}, tuple({2: free} for _ in past))
    torch.onnx.export(model, arguments, path, dynamic_shapes=shapes, dynamo=True, external_data=False, **names)


@functools.cache
def exported_file(style: str, exporter: str, folder: Path) -> Path:
    if exporter == "dynamo" and importlib.util.find_spec("onnxscript") is None:
        pytest.skip("onnxscript, which this exporter needs, is not installed")
    path = folder / f"{style}_{exporter}.onnx"
    export(style, exporter, path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("how", ["static", "dynamic"])
@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("style", ["llama", "gpt"])
def test_256_greedy_steps_with_teacher_forcing(
    style: str, exporter: str, how: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    source = exported_file(style, exporter, folder)
    content = quantized(onnx.load(source), VOCABULARY, how, tmp_path_factory.mktemp("quantized"))
    path = folder / f"{style}_{exporter}_{how}.onnx"
    path.write_bytes(content)
    prompt, steps = [5, 17, 3, 80], 256
    expected = Reference(content).greedy(prompt, steps)
    app = tvm_pulp.compile(path, target="uma-neureka", capacity=len(prompt) + steps, planner="greedy")
    # Where ranges come from the values, every token is seen by itself.
    entries = set(app.metadata["tvm_pulp"]["decoder"]["entries"])
    assert {"prefill", "decode"} <= entries if how == "static" else entries == {"decode"}
    made = app.generator().generate(GenerationRequest(prompt, steps, forced=expected))
    agreement = np.mean(np.array(made.tokens) == np.array(expected))
    assert agreement >= 0.95
