"""A hundred modules of one operator each, with its inputs; the names are PyTorch's."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Case = tuple[nn.Module, tuple[Any, ...]]


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *operands: Tensor) -> Any:
        return self.function(*operands)


class SideBySide(nn.Module):
    """Several modules, each with inputs and a result of its own."""

    def __init__(self, parts: Sequence[tuple[nn.Module, int]]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(module for module, _ in parts)
        self.counts = [count for _, count in parts]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        results, place = [], 0
        for part, count in zip(self.parts, self.counts, strict=True):
            results.append(part(*inputs[place : place + count]))
            place += count
        return tuple(results)


def _of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], Case]:
    return lambda: (Function(function), tuple(torch.randn(s) for s in shapes or ((2, 5, 7),)))


def _positive(function: Callable[..., Any]) -> Callable[[], Case]:
    return lambda: (Function(function), (torch.rand(2, 5, 7) * 3 + 0.1,))


def _layer(make: Callable[[], nn.Module], *shape: int) -> Callable[[], Case]:
    return lambda: (_lively(make()), (torch.randn(shape),))


def _lively(module: nn.Module) -> nn.Module:
    """Statistics of norms that are not those of a new module."""
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.3)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return module


def _recurrent(kind: type[nn.Module], **settings: Any) -> Callable[[], Case]:
    def make() -> Case:
        body = kind(5, 6, **settings)
        return Wrapped(body), (torch.randn(1, 4, 5) if settings.get("batch_first") else torch.randn(4, 1, 5),)

    return make


class Wrapped(nn.Module):
    """The sequence that a recurrent layer returns."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)[0]


def _embedding() -> Case:
    return nn.Embedding(11, 6), (torch.tensor([[1, 3, 10, 0]]),)


OPERATORS: dict[str, Callable[[], Case]] = {
    # Element by element.
    "add": _of(lambda a, b: a + b, (2, 5, 7), (5, 1)),
    "add_alpha": _of(lambda a, b: torch.add(a, b, alpha=0.5), (3, 4), (3, 4)),
    "add_number": _of(lambda a: a + 1.5),
    "sub": _of(lambda a, b: a - b, (3, 4), (4,)),
    "rsub": _of(lambda a: 2 - a),
    "mul": _of(lambda a, b: a * b, (3, 4), (3, 1)),
    "div": _of(lambda a, b: a / (b * b + 1), (3, 4), (3, 4)),
    "div_floor": _of(lambda a: torch.div(a, 0.37, rounding_mode="floor")),
    "div_trunc": _of(lambda a: torch.div(a, 0.37, rounding_mode="trunc")),
    "round_decimals": _of(lambda a: torch.round(a, decimals=1) + torch.round(a * 100, decimals=-1)),
    "remainder": _of(lambda a: torch.remainder(a, 0.7)),
    "pow_square": _of(lambda a: a**2),
    "pow_cube": _of(lambda a: a**3),
    "maximum": _of(torch.maximum, (3, 4), (3, 4)),
    "minimum": _of(torch.minimum, (3, 4), (3, 4)),
    "abs": _of(torch.abs),
    "neg": _of(torch.neg),
    "exp": _of(torch.exp),
    "log": _positive(torch.log),
    "log2": _positive(torch.log2),
    "log1p": _positive(torch.log1p),
    "sqrt": _positive(torch.sqrt),
    "rsqrt": _positive(torch.rsqrt),
    "reciprocal": _positive(torch.reciprocal),
    "square": _of(torch.square),
    "sin": _of(torch.sin),
    "cos": _of(torch.cos),
    "erf": _of(torch.erf),
    "floor": _of(torch.floor),
    "ceil": _of(torch.ceil),
    "round": _of(torch.round),
    "sign": _of(torch.sign),
    "clamp": _of(lambda a: torch.clamp(a, -0.5, 0.7)),
    "clamp_min": _of(lambda a: torch.clamp(a, min=-0.2)),
    "where": _of(lambda a, b: torch.where(a > 0, a, b), (3, 4), (3, 4)),
    # 2^24 + 1 is no float32: PyTorch compares whole numbers with floats as float32, NumPy as float64.
    "compare_kinds": _of(lambda a: torch.where(torch.arange(7) + 2**24 > a.abs() * 0 + 2.0**24, a, -a)),
    "masked_fill": _of(lambda a: a.masked_fill(a < 0, -1.0)),
    "lerp": _of(lambda a, b: torch.lerp(a, b, 0.3), (3, 4), (3, 4)),
    "addcmul": _of(lambda a, b, c: torch.addcmul(a, b, c, value=0.5), (3, 4), (3, 4), (3, 4)),
    # Activations.
    "relu": _of(functional.relu),
    "relu6": _of(functional.relu6),
    "sigmoid": _of(torch.sigmoid),
    "tanh": _of(torch.tanh),
    "hardtanh": _of(functional.hardtanh),
    "hardsigmoid": _of(functional.hardsigmoid),
    "hardswish": _of(functional.hardswish),
    "leaky_relu": _of(functional.leaky_relu),
    "elu": _of(functional.elu),
    "selu": _of(functional.selu),
    "celu": _of(lambda a: functional.celu(a, 0.7)),
    "gelu": _of(functional.gelu),
    "gelu_tanh": _of(lambda a: functional.gelu(a, approximate="tanh")),
    "silu": _of(functional.silu),
    "mish": _of(functional.mish),
    "softplus": _of(functional.softplus),
    "softsign": _of(functional.softsign),
    "logsigmoid": _of(functional.logsigmoid),
    "prelu": _layer(lambda: nn.PReLU(5), 2, 5, 7),
    "glu": _of(functional.glu, (2, 5, 8)),
    "softshrink": _of(functional.softshrink),
    "hardshrink": _of(functional.hardshrink),
    "softmax": _of(lambda a: functional.softmax(a, dim=-1)),
    "log_softmax": _of(lambda a: functional.log_softmax(a, dim=1)),
    # Products.
    "linear": _layer(lambda: nn.Linear(7, 4), 3, 7),
    "linear_sequence": _layer(lambda: nn.Linear(7, 4, bias=False), 2, 5, 7),
    "matmul": _of(torch.matmul, (2, 3, 4), (2, 4, 5)),
    "addmm": _of(torch.addmm, (5,), (3, 4), (4, 5)),
    "einsum": _of(lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b), (1, 2, 3, 4), (1, 2, 5, 4)),
    "attention": _of(functional.scaled_dot_product_attention, (1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
    "conv1d": _layer(lambda: nn.Conv1d(6, 8, 3, padding=2, dilation=2), 1, 6, 11),
    "conv2d": _layer(lambda: nn.Conv2d(6, 8, 3, stride=2, padding=1), 1, 6, 9, 10),
    "conv2d_same": _layer(lambda: nn.Conv2d(6, 8, (2, 3), padding="same"), 1, 6, 9, 10),
    "conv2d_depthwise": _layer(lambda: nn.Conv2d(6, 6, 3, padding=1, groups=6, bias=False), 1, 6, 9, 10),
    "conv_transpose2d": _layer(lambda: nn.ConvTranspose2d(6, 4, 3, 2, 1, output_padding=1), 1, 6, 5, 4),
    # Pooling, norms, resizing.
    "max_pool2d": _of(lambda a: functional.max_pool2d(a, 3, 2, 1), (1, 6, 9, 10)),
    "avg_pool2d": _of(lambda a: functional.avg_pool2d(a, 2), (1, 6, 9, 10)),
    "adaptive_avg_pool2d": _of(lambda a: functional.adaptive_avg_pool2d(a, 1), (1, 6, 9, 10)),
    "adaptive_avg_pool2d_odd": _of(lambda a: functional.adaptive_avg_pool2d(a, (4, 3)), (1, 6, 9, 10)),
    "batch_norm": _layer(lambda: nn.BatchNorm2d(6), 1, 6, 5, 4),
    "layer_norm": _layer(lambda: nn.LayerNorm(7), 2, 5, 7),
    "rms_norm": _layer(lambda: nn.RMSNorm(7), 2, 5, 7),
    "group_norm": _layer(lambda: nn.GroupNorm(2, 6), 1, 6, 5, 4),
    "instance_norm": _layer(lambda: nn.InstanceNorm2d(6, affine=True), 1, 6, 5, 4),
    "nearest": _of(lambda a: functional.interpolate(a, scale_factor=2.0, mode="nearest"), (1, 3, 4, 5)),
    "bilinear": _of(
        lambda a: functional.interpolate(a, size=(7, 9), mode="bilinear", align_corners=False), (1, 3, 4, 5)
    ),
    # Reductions.
    "mean": _of(lambda a: a.mean(dim=(1, 2))),
    "sum": _of(lambda a: a.sum(dim=-1, keepdim=True)),
    "amax": _of(lambda a: a.amax(dim=1)),
    "argmax": _of(lambda a: a.argmax(dim=-1)),
    "var": _of(lambda a: a.var(dim=-1)),
    "norm": _of(lambda a: torch.linalg.vector_norm(a, dim=-1)),
    "logsumexp": _of(lambda a: torch.logsumexp(a, dim=-1)),
    "cumsum": _of(lambda a: torch.cumsum(a, dim=1)),
    # Movement.
    "permute": _of(lambda a: a.permute(2, 0, 1).contiguous()),
    "reshape": _of(lambda a: a.reshape(5, 14) * 2),
    "split": _of(lambda a: torch.cat(torch.split(a, [1, 4], dim=1)[::-1], dim=1)),
    "stack": _of(lambda a, b: torch.stack([a, b], dim=1), (3, 4), (3, 4)),
    "slice": _of(lambda a: a[:, 1:5:2, -3:]),
    "select": _of(lambda a: a[:, 2]),
    "index": _of(lambda a: a[:, torch.tensor([0, 3, 1]), torch.tensor([2, 0, 6])]),
    "flip": _of(lambda a: a.flip(1)),
    "roll": _of(lambda a: a.roll(2, 1)),
    "repeat": _of(lambda a: a.repeat(1, 2, 1)),
    "repeat_interleave": _of(lambda a: a.repeat_interleave(3, dim=1)),
    "expand": _of(lambda a: a.expand(-1, 5, -1) + 1, (2, 1, 7)),
    "pad": _of(lambda a: functional.pad(a, (2, 1), value=0.5)),
    "pad_reflect": _of(lambda a: functional.pad(a, (2, 1, 1, 3), mode="reflect"), (1, 3, 5, 6)),
    "pixel_shuffle": _of(lambda a: functional.pixel_shuffle(a, 2), (1, 8, 3, 4)),
    "tril": _of(torch.tril, (5, 5)),
    "embedding": _embedding,
    # Recurrent layers.
    "lstm": _recurrent(nn.LSTM, batch_first=True),
    "gru": _recurrent(nn.GRU),
    "rnn": _recurrent(nn.RNN, num_layers=2, bidirectional=True),
}
