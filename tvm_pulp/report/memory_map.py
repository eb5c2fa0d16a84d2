"""Pictures of a plan: which bytes of a memory hold what over time, and when cores, DMA and accelerators are busy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Record = dict[str, Any]

_WIDTH, _HEIGHT, _LEFT, _TOP = 1200, 420, 90, 40
_NAME_SIZE, _TICKS = 10, 6
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#bab0ac")


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    size = f'width="{_WIDTH + _LEFT + 20}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    name = f'<text x="{_LEFT}" y="24" font-size="16">{escape(title)}</text>'
    return "\n".join([head, name, *body, "</svg>", ""])


def _rectangle(x: float, y: float, width: float, height: float, colour: str, label: str) -> str:
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.6):.1f}" height="{max(height, 0.6):.1f}"'
    tip = f"<title>{escape(label)}</title>"
    return f'<rect {shape} fill={quoteattr(colour)} stroke="white" stroke-width="0.3">{tip}</rect>'


def _text(x: float, y: float, text: str, *, size: int = 11, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'


def _name(x: float, y: float, width: float, height: float, name: str) -> list[str]:
    """A name inside a rectangle that has room for it."""
    if height < _NAME_SIZE + 2 or width < 0.62 * _NAME_SIZE * len(name) + 4:
        return []
    return [_text(x + width / 2, y + height / 2 + _NAME_SIZE / 3, name, size=_NAME_SIZE, anchor="middle")]


def _across(y: float, most: int, unit: str) -> list[str]:
    """Ticks with figures below a picture."""
    found = []
    for part in range(_TICKS + 1):
        x = _LEFT + part * _WIDTH / _TICKS
        figure = f"{most * part // _TICKS:,}" + (f" {unit}" if part == _TICKS else "")
        found.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{y + 4:.1f}" stroke="#888"/>')
        found.append(_text(x, y + 16, figure, anchor="middle" if 0 < part < _TICKS else "end" if part else "start"))
    return found


def memory_map(title: str, blocks: Sequence[Record], size: int, last: int) -> str:
    """An SVG: time in steps to the right, addresses upwards, one rectangle per block."""
    body = [f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="#f4f4f4"/>']
    across, up = _WIDTH / max(1, last + 1), _HEIGHT / max(1, size)
    colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(dict.fromkeys(b["name"] for b in blocks))}
    for block in blocks:
        first, end = block["alive"]
        x, width = _LEFT + first * across, (end - first + 1) * across
        y, height = _TOP + _HEIGHT - (block["offset"] + block["bytes"]) * up, block["bytes"] * up
        label = f"{block['name']}: {block['bytes']} bytes at {block['offset']}, steps {first // 3} to {end // 3}"
        body.append(_rectangle(x, y, width, height, colours[block["name"]], label))
        body += _name(x, y, width, height, block["name"])
    for part in range(5):
        y = _TOP + _HEIGHT - part * _HEIGHT / 4
        body.append(f'<line x1="{_LEFT - 4}" y1="{y:.1f}" x2="{_LEFT}" y2="{y:.1f}" stroke="#888"/>')
        body.append(_text(_LEFT - 6, y + 4, f"{size * part // 4:,}", anchor="end"))
    body.append(_text(_LEFT - 6, _TOP - 6, "bytes", anchor="end"))
    body += _across(_TOP + _HEIGHT, last // 3, "steps")
    return _svg(title, _TOP + _HEIGHT + 30, body)


def memory_maps(plan: Record) -> dict[str, str]:
    """SVGs by memory level: L1 with all blocks, L2 with activations and what L3 sends."""
    last = max((b["alive"][1] for b in plan["blocks"]), default=0)
    maps = {"l1": memory_map(f"L1, {plan['l1_bytes']} bytes", plan["blocks"], plan["l1_bytes"], last)}
    tensors = plan["l2"]["tensors"]
    maps["l2"] = memory_map(f"L2 activations, {plan['l2']['size']} bytes", tensors, plan["l2"]["size"], last)
    return maps


def timeline(plan: Record, spans: Sequence[Any], cycles: int) -> str:
    """An SVG: one lane each for cores, loads, stores, L3 and accelerators, expected cycles to the right."""
    lanes = list(dict.fromkeys(["cores", *(s.resource for s in spans)]))
    across, lane = _WIDTH / max(1, cycles), 44
    body = []
    for row, name in enumerate(lanes):
        y = _TOP + row * lane
        body.append(f'<text x="{_LEFT - 6}" y="{y + 22}" font-size="12" text-anchor="end">{escape(name)}</text>')
        body.append(f'<rect x="{_LEFT}" y="{y}" width="{_WIDTH}" height="{lane - 8}" fill="#f4f4f4"/>')
    for span in spans:
        y = _TOP + lanes.index(span.resource) * lane
        layer = plan["layers"][span.layer]["name"]
        label = f"{layer}: {span.name}, cycles {span.start} to {span.end}"
        x, width, height = _LEFT + span.start * across, (span.end - span.start) * across, lane - 8
        body.append(_rectangle(x, y, width, height, _COLOURS[span.layer % len(_COLOURS)], label))
        body += _name(x, y, width, height, layer)
    bottom = _TOP + len(lanes) * lane
    body += _across(bottom, cycles, "cycles")
    body.append(_text(_LEFT, bottom + 34, "one colour per layer; point at a bar for its name, what it does and when"))
    return _svg("Expected schedule", bottom + 44, body)
