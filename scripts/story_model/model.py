"""The float Llama, and the same network with every rounding of its integer form.

`Step` is one quantization point: `off` passes values on, `watch` measures their reach, `on` rounds them to a grid with
straight-through gradients, its step being learned. What the integer network rounds, and how, is rounded here too:
RMSNorm with an integer root and a floor, scores on a grid of 1/32, exponentials of eight bits, int8 sums.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

SCORE_STEPS = 32
EXPONENTIAL = 255


@dataclass(frozen=True)
class Shape:
    width: int = 256
    layers: int = 8
    heads: int = 8
    kv_heads: int = 8
    hidden: int = 344
    vocabulary: int = 512
    context: int = 256
    weight_bits: int = 8

    @property
    def head(self) -> int:
        return self.width // self.heads


def rounded(x: torch.Tensor) -> torch.Tensor:
    return x + (torch.round(x) - x).detach()


def floored(x: torch.Tensor) -> torch.Tensor:
    return x + (torch.floor(x) - x).detach()


class Step(nn.Module):
    """One point where values become int8."""

    def __init__(self) -> None:
        super().__init__()
        self.log_step = nn.Parameter(torch.zeros(()))
        self.mode = "off"
        self.reach = 0.0

    @property
    def step(self) -> torch.Tensor:
        return self.log_step.exp()

    def forward(self, x: torch.Tensor, floor: bool = False) -> torch.Tensor:
        if self.mode == "watch":
            flat = x.detach().abs().flatten()
            index = max(1, math.ceil(0.9999 * flat.numel()))
            self.reach = max(self.reach, float(flat.float().kthvalue(index).values))
        if self.mode != "on":
            return x
        grid = torch.clamp(x / self.step, -128, 127)
        return (floored(grid) + 0.5 if floor else rounded(grid)) * self.step


class Linear(nn.Module):
    """A matrix that is rounded with one scale per output: of eight bits so that nothing is clipped, else learned."""

    def __init__(self, inputs: int, outputs: int, deviation: float, bits: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * deviation)
        self.bits = bits
        if bits < 8:
            self.log_scale = nn.Parameter(torch.zeros(outputs))

    def on_grid(self, scale: torch.Tensor) -> torch.Tensor:
        most = 1 << (self.bits - 1)
        return rounded(torch.clamp(self.weight / scale, -most, most - 1)) * scale

    def start_rounding(self) -> None:
        """Take the scales that change the weights least."""
        if self.bits == 8:
            return
        whole = self.weight.detach().abs().amax(1, keepdim=True).clamp(min=1e-8) / (1 << (self.bits - 1))
        tried = torch.stack([whole * part for part in torch.linspace(0.4, 1.1, 36).tolist()])
        errors = torch.stack([(self.on_grid(s) - self.weight).detach().square().sum(1, keepdim=True) for s in tried])
        self.log_scale.data.copy_(tried.gather(0, errors.argmin(0, keepdim=True))[0, :, 0].log())

    def forward(self, x: torch.Tensor, quantized: bool) -> torch.Tensor:
        if not quantized:
            return functional.linear(x, self.weight)
        if self.bits < 8:
            scale = self.log_scale.exp()[:, None]
        else:
            scale = self.weight.detach().abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
        return functional.linear(x, self.on_grid(scale))


class Norm(nn.Module):
    """RMSNorm. Its input lies on the grid of `source`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.out = Step()

    def forward(self, x: torch.Tensor, source: Step) -> torch.Tensor:
        if self.out.mode != "on":
            root = x.float().square().mean(-1, keepdim=True).add(1e-5).sqrt()
            return self.out((x / root).to(x.dtype) * self.gain)
        numbers = x / source.step
        root = floored(floored(numbers.square().mean(-1, keepdim=True) + 1e-3).add(1).sqrt())
        return self.out(numbers / root * self.gain, floor=True)


def turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """RoPE on neighbouring pairs: x is [batch, heads, positions, size]."""
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        inner = shape.kv_heads * shape.head
        self.q = Linear(shape.width, shape.width, 0.02, shape.weight_bits)
        self.k = Linear(shape.width, inner, 0.02, shape.weight_bits)
        self.v = Linear(shape.width, inner, 0.02, shape.weight_bits)
        self.o = Linear(shape.width, shape.width, 0.02 / math.sqrt(2 * shape.layers), shape.weight_bits)
        self.q_step, self.k_step, self.v_step = Step(), Step(), Step()

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        on = self.q_step.mode == "on"
        batch, length, _ = x.shape

        def heads(values: torch.Tensor) -> torch.Tensor:
            return values.view(batch, length, -1, self.shape.head).transpose(1, 2)

        # A step serves before and after the rotation.
        q = self.q_step(turned(self.q_step(heads(self.q(x, on))), cosine, sine))
        k = self.k_step(turned(self.k_step(heads(self.k(x, on))), cosine, sine))
        v = self.v_step(heads(self.v(x, on)))
        group = self.shape.heads // self.shape.kv_heads
        if group > 1:
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        if not on:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = rounded(q @ k.transpose(-1, -2) * (SCORE_STEPS / math.sqrt(self.shape.head)))
            hidden = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(hidden, -1e9)
            below = (scores.amax(-1, keepdim=True) - scores).clamp(max=1e6)
            weights = rounded(torch.exp(below / -SCORE_STEPS) * EXPONENTIAL)
            mixed = self.v_step(weights @ v / weights.sum(-1, keepdim=True))
        return self.o(mixed.transpose(1, 2).reshape(batch, length, -1), on)


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate = Linear(shape.width, shape.hidden, 0.02, shape.weight_bits)
        self.up = Linear(shape.width, shape.hidden, 0.02, shape.weight_bits)
        self.down = Linear(shape.hidden, shape.width, 0.02 / math.sqrt(2 * shape.layers), shape.weight_bits)
        self.gate_step, self.silu_step, self.up_step, self.product_step = Step(), Step(), Step(), Step()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        on = self.gate_step.mode == "on"
        gate = self.silu_step(functional.silu(self.gate_step(self.gate(x, on))))
        return self.down(self.product_step(gate * self.up_step(self.up(x, on))), on)


def summed(x: torch.Tensor, branch: torch.Tensor, step: Step) -> torch.Tensor:
    """Residual sum: both operands on the grid of the result, the sum saturated."""
    if step.mode != "on":
        return step(x + branch)
    return torch.clamp((step(x) + step(branch)) / step.step, -128, 127) * step.step


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm1, self.attention, self.sum1 = Norm(shape.width), Attention(shape), Step()
        self.norm2, self.feed_forward, self.sum2 = Norm(shape.width), FeedForward(shape), Step()

    def forward(self, x: torch.Tensor, source: Step, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        x = summed(x, self.attention(self.norm1(x, source), cosine, sine), self.sum1)
        return summed(x, self.feed_forward(self.norm2(x, self.sum1)), self.sum2)


class Llama(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.randn(shape.vocabulary, shape.width) * 0.02)
        self.embedding_step = Step()
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.width)
        rate = 10000.0 ** (-torch.arange(0, shape.head, 2) / shape.head)
        angle = torch.arange(shape.context)[:, None] * rate[None]
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)

    def steps(self) -> list[Step]:
        return [module for module in self.modules() if isinstance(module, Step)]

    def set_mode(self, mode: str) -> None:
        for step in self.steps():
            step.mode = mode

    def start_rounding(self) -> None:
        """Take the steps from what was watched."""
        for step in self.steps():
            step.log_step.data.fill_(math.log(max(step.reach, 1e-4) / 127))
        for module in self.modules():
            if isinstance(module, Linear):
                module.start_rounding()
        self.set_mode("on")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        table = self.embedding_step(self.embedding)
        x, source = functional.embedding(tokens, table), self.embedding_step
        cosine, sine = self.cosine[: tokens.shape[1]], self.sine[: tokens.shape[1]]
        for block in self.blocks:
            x, source = block(x, source, cosine, sine), block.sum2
        return functional.linear(self.norm(x, source), table)
