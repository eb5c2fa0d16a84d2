"""Twelve small networks of the kinds people bring, written as people write them in PyTorch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


def conv_norm(channels: int, filters: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution without bias, its batch norm and a ReLU."""
    conv = nn.Conv2d(channels, filters, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(filters), nn.ReLU(inplace=True))


class Classifier(nn.Module):
    """A body, the mean over its picture, a linear layer."""

    def __init__(self, body: nn.Module, channels: int) -> None:
        super().__init__()
        self.body, self.head = body, nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(functional.adaptive_avg_pool2d(self.body(x), 1).flatten(1))


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(filters)
        self.shortcut = nn.Conv2d(channels, filters, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        inner = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(inner + self.shortcut(x))


def resnet8() -> nn.Module:
    """The ResNet-8 of MLPerf Tiny."""
    body = nn.Sequential(conv_norm(3, 16), Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
    return Classifier(body, 64)


class SqueezeExcite(nn.Module):
    """Channels weighted by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        mean = functional.adaptive_avg_pool2d(x, 1)
        return x * torch.sigmoid(self.up(functional.relu(self.down(mean))))


class UNet(nn.Module):
    """Down and up again, joined with what was there before."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = conv_norm(3, 8), conv_norm(8, 16)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        wide = self.first(x)
        low = self.second(functional.max_pool2d(wide, 2))
        return self.last(torch.cat([self.up(low), wide], dim=1))


class Detector(nn.Module):
    """Boxes and classes at two resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.deep = conv_norm(3, 16, stride=2), conv_norm(16, 32, stride=2)
        self.near, self.far = nn.Conv2d(48, 12, 1), nn.Conv2d(32, 12, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        near = functional.silu(self.stem(x))
        far = self.deep(near)
        both = torch.cat([functional.interpolate(far, scale_factor=2.0, mode="nearest"), near], dim=1)
        return torch.sigmoid(self.near(both)), torch.sigmoid(self.far(far))


class Tcn(nn.Module):
    """Causal convolutions, each further apart, with residual sums."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(channels, channels, 3, dilation=d) for d in (1, 2, 4))
        self.head = nn.Linear(channels, 5)

    def forward(self, x: Tensor) -> Tensor:
        for conv in self.convs:
            padded = functional.pad(x, (2 * conv.dilation[0], 0))  # type: ignore[operator]
            x = x + functional.relu(conv(padded))
        return self.head(x.mean(dim=-1))


class Recurrent(nn.Module):
    """What the last step of a recurrent layer says."""

    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.body, self.head = kind(12, 16, batch_first=True), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x)[0][:, -1])


class Attention(nn.Module):
    """Queries, keys and values of one product; heads side by side."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (p.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Encoder(nn.Module):
    """A transformer's layer with the norms first."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.attention = Attention(width, heads, causal)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Vit(nn.Module):
    """Patches, a class token, positions, a layer, the class."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.token, self.positions = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, 17, width))
        self.layer, self.head = Encoder(width, 4, causal=False), nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), patches], dim=1) + self.positions
        return self.head(self.layer(x)[:, 0])


class Gpt(nn.Module):
    """Token and position embeddings, a causal layer, logits."""

    def __init__(self, width: int = 32, vocabulary: int = 40) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(16, width)
        self.layer, self.norm = Encoder(width, 4, causal=True), nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.layer(x)))


class RmsNorm(nn.Module):
    """As people write it: the older ONNX exporter does not know PyTorch's own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    """RMSNorm, rotary embedding, shared keys and values, SwiGLU."""

    def __init__(self, width: int = 32, heads: int = 4, shared: int = 2) -> None:
        super().__init__()
        self.heads, self.shared, size = heads, shared, width // heads
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, shared * size, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, 48, bias=False) for _ in range(2))
        self.down = nn.Linear(48, width, bias=False)
        angles = torch.arange(8)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
        self.register_buffer("angles", torch.cat([angles, angles], dim=-1))

    def _turned(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        other = torch.cat([-second, first], dim=-1)
        return x * self.angles.cos() + other * self.angles.sin()  # type: ignore[operator]

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        h = self.norm1(x)
        q = self._turned(self.q(h).view(batch, length, self.heads, -1).transpose(1, 2))
        k = self._turned(self.k(h).view(batch, length, self.shared, -1).transpose(1, 2))
        v = self.v(h).view(batch, length, self.shared, -1).transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.shared, dim=1) for t in (k, v))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, width))
        h = self.norm2(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


def lively(module: nn.Module) -> nn.Module:
    """For inference, with statistics of norms as after training."""
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return module.eval()


Case = tuple[nn.Module, tuple[Any, ...]]
NETWORKS: dict[str, Callable[[], Case]] = {
    "cnn": lambda: (
        Classifier(nn.Sequential(conv_norm(3, 8), nn.MaxPool2d(2), conv_norm(8, 16)), 16),
        (torch.randn(1, 3, 16, 16),),
    ),
    "depthwise": lambda: (
        Classifier(nn.Sequential(conv_norm(3, 16, 3, 2), conv_norm(16, 16, 3, 1, 16), conv_norm(16, 32, 1)), 32),
        (torch.randn(1, 3, 16, 16),),
    ),
    "residual": lambda: (resnet8(), (torch.randn(1, 3, 32, 32),)),
    "squeeze_excite": lambda: (
        Classifier(nn.Sequential(conv_norm(3, 16), SqueezeExcite(16), conv_norm(16, 16, 3, 2)), 16),
        (torch.randn(1, 3, 16, 16),),
    ),
    "unet": lambda: (UNet(), (torch.randn(1, 3, 16, 16),)),
    "detector": lambda: (Detector(), (torch.randn(1, 3, 16, 16),)),
    "tcn": lambda: (Tcn(), (torch.randn(1, 16, 24),)),
    "lstm": lambda: (Recurrent(nn.LSTM), (torch.randn(1, 6, 12),)),
    "gru": lambda: (Recurrent(nn.GRU), (torch.randn(1, 6, 12),)),
    "vit": lambda: (Vit(), (torch.randn(1, 3, 16, 16),)),
    "gpt": lambda: (Gpt(), (torch.randint(0, 40, (1, 8)),)),
    "llama_block": lambda: (LlamaBlock(), (torch.randn(1, 8, 32),)),
}


def build(name: str) -> Case:
    """A network with seeded weights, ready for inference, and its inputs."""
    torch.manual_seed(sum(name.encode()))
    module, inputs = NETWORKS[name]()
    return lively(module), inputs
