"""Small PyTorch networks of other shapes than the catalog's, written as people write them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Residual(nn.Module):
    """Convolutions, a depthwise one, batch norms, a residual sum, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU6())
        self.wide = nn.Sequential(nn.Conv2d(12, 24, 1), nn.SiLU(), nn.Conv2d(24, 24, 3, 1, 1, groups=24), nn.ReLU())
        self.back, self.head = nn.Conv2d(24, 12, 1), nn.Linear(12, 7)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = functional.relu(x + self.back(self.wide(x)))
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Upsampled(nn.Module):
    """An encoder and decoder: group norm, transposed convolution, bilinear resize, padding and concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.norm = nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(2, 8)
        self.up, self.last = nn.ConvTranspose2d(8, 6, 2, 2), nn.Conv2d(14, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        low = functional.gelu(self.norm(self.down(x)))
        both = torch.cat(
            [self.up(low), functional.interpolate(low, scale_factor=2.0, mode="bilinear", align_corners=False)], 1
        )
        return self.last(functional.pad(both, (1, 1, 1, 1), value=0.5))


class Encoder(nn.Module):
    """Attention by scaled_dot_product_attention, GELU, layer norms; three heads of eight."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal, width = causal, 24
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 40), nn.GELU(), nn.Linear(40, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, 3, width // 3).transpose(1, 2) for t in (q, k, v))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second(x))


class Decoder(nn.Module):
    """RMSNorm as x * x, rotary embedding of neighbours or halves, a mask at run time, SwiGLU."""

    def __init__(self, interleaved: bool) -> None:
        super().__init__()
        self.interleaved, width = interleaved, 32
        self.scale = nn.Parameter(torch.rand(width) + 0.5)
        self.q, self.k, self.v, self.o = (
            nn.Linear(width, n, bias=False) for n in (width, width // 2, width // 2, width)
        )
        self.gate, self.up, self.down = nn.Linear(width, 48), nn.Linear(width, 48), nn.Linear(48, width)

    def _norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.scale

    def _turned(self, x: Tensor, angles: Tensor) -> Tensor:
        if self.interleaved:
            # The older exporter writes another axis than -1 here.
            other = torch.stack([-x[..., 1::2], x[..., ::2]], dim=4).flatten(3)
            angles = torch.stack([angles, angles], dim=2).flatten(1)
        else:
            first, second = x.chunk(2, dim=-1)
            other, angles = torch.cat([-second, first], dim=-1), torch.cat([angles, angles], dim=-1)
        return x * angles.cos() + other * angles.sin()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, width = x.shape
        angles = torch.arange(length)[:, None] * torch.tensor([1.0, 0.3, 0.1, 0.03])
        h = self._norm(x)
        q = self._turned(self.q(h).view(batch, length, 4, 8).transpose(1, 2), angles)
        k = self._turned(self.k(h).view(batch, length, 2, 8).transpose(1, 2), angles)
        v = self.v(h).view(batch, length, 2, 8).transpose(1, 2)
        k, v = (t[:, :, None].expand(-1, -1, 2, -1, -1).reshape(batch, 4, length, 8) for t in (k, v))
        weights = functional.softmax(q @ k.transpose(-1, -2) / 8**0.5 + mask, dim=-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(batch, length, width))
        h = self._norm(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


class Recurrent(nn.Module):
    """Two layers, both directions, and what the last step says."""

    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.body, self.head = kind(6, 10, num_layers=2, bidirectional=True, batch_first=True), nn.Linear(20, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x)[0][:, -1])


class Odds(nn.Module):
    """Operators with shapes of their own: split, tile, advanced indexing, cumulative sum, variance, reflection."""

    def forward(self, x: Tensor) -> Tensor:
        a, b = torch.split(x, [2, 4], dim=1)
        a = a.repeat(1, 2, 1) * torch.cumsum(b, dim=2)
        a = a - a.var(dim=2, keepdim=True, unbiased=False)
        picked = a[:, torch.tensor([0, 2, 1]), torch.tensor([1, 3, 0])]
        return functional.pad(a, (2, 1), mode="reflect") + picked.mean(1).view(-1, 1, 1).expand(-1, 4, 1)


def _causal_mask(length: int) -> Tensor:
    return torch.triu(torch.full((length, length), -1e4), 1)[None, None]


# A network and its inputs, the last of which may be a mask.
NETWORKS: dict[str, Callable[[], tuple[nn.Module, tuple[Any, ...]]]] = {
    "residual": lambda: (Residual(), (torch.randn(1, 3, 20, 24),)),
    "upsampled": lambda: (Upsampled(), (torch.randn(1, 3, 16, 12),)),
    "encoder": lambda: (Encoder(causal=False), (torch.randn(1, 9, 24),)),
    "causal_encoder": lambda: (Encoder(causal=True), (torch.randn(1, 10, 24),)),
    "decoder": lambda: (Decoder(interleaved=False), (torch.randn(1, 7, 32), _causal_mask(7))),
    "interleaved_decoder": lambda: (Decoder(interleaved=True), (torch.randn(1, 7, 32), _causal_mask(7))),
    "lstm": lambda: (Recurrent(nn.LSTM), (torch.randn(1, 5, 6),)),
    "gru": lambda: (Recurrent(nn.GRU), (torch.randn(1, 5, 6),)),
    "odds": lambda: (Odds(), (torch.randn(1, 6, 5),)),
}
