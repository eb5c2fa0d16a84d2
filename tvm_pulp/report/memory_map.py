"""Pictures of a plan: which bytes of a memory hold what over time, and when cores, DMA and accelerators are busy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvm_pulp.report.svg import COLOURS, line, picture, rectangle, text

Record = dict[str, Any]

_WIDTH, _HEIGHT, _LEFT, _TOP = 1200, 420, 90, 40
_NAME_SIZE, _TICKS = 10, 6
_GROUND = "#f4f4f4"


def _name(x: float, y: float, width: float, height: float, name: str) -> list[str]:
    """A name inside a rectangle that has room for it."""
    if height < _NAME_SIZE + 2 or width < 0.62 * _NAME_SIZE * len(name) + 4:
        return []
    return [text(x + width / 2, y + height / 2 + _NAME_SIZE / 3, name, size=_NAME_SIZE, anchor="middle")]


def _across(y: float, most: int, unit: str) -> list[str]:
    """Ticks with figures below a picture."""
    found = []
    for part in range(_TICKS + 1):
        x = _LEFT + part * _WIDTH / _TICKS
        figure = f"{most * part // _TICKS:,}" + (f" {unit}" if part == _TICKS else "")
        found.append(line(x, y, x, y + 4))
        found.append(text(x, y + 16, figure, anchor="middle" if 0 < part < _TICKS else "end" if part else "start"))
    return found


def memory_map(title: str, blocks: Sequence[Record], size: int, last: int) -> str:
    """An SVG: time in steps to the right, addresses upwards, one rectangle per block."""
    body = [rectangle(_LEFT, _TOP, _WIDTH, _HEIGHT, _GROUND)]
    across, up = _WIDTH / max(1, last + 1), _HEIGHT / max(1, size)
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(dict.fromkeys(b["name"] for b in blocks))}
    for block in blocks:
        first, end = block["alive"]
        x, width = _LEFT + first * across, (end - first + 1) * across
        y, height = _TOP + _HEIGHT - (block["offset"] + block["bytes"]) * up, block["bytes"] * up
        label = f"{block['name']}: {block['bytes']} bytes at {block['offset']}, steps {first // 3} to {end // 3}"
        body.append(rectangle(x, y, width, height, colours[block["name"]], label))
        body += _name(x, y, width, height, block["name"])
    for part in range(5):
        y = _TOP + _HEIGHT - part * _HEIGHT / 4
        body.append(line(_LEFT - 4, y, _LEFT, y))
        body.append(text(_LEFT - 6, y + 4, f"{size * part // 4:,}", anchor="end"))
    body.append(text(_LEFT - 6, _TOP - 6, "bytes", anchor="end"))
    body += _across(_TOP + _HEIGHT, last // 3, "steps")
    return picture(title, _LEFT, _LEFT + _WIDTH + 20, _TOP + _HEIGHT + 30, body)


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
        body.append(text(_LEFT - 6, y + 22, name, size=12, anchor="end"))
        body.append(rectangle(_LEFT, y, _WIDTH, lane - 8, _GROUND))
    for span in spans:
        y = _TOP + lanes.index(span.resource) * lane
        layer = plan["layers"][span.layer]["name"]
        label = f"{layer}: {span.name}, cycles {span.start} to {span.end}"
        x, width, height = _LEFT + span.start * across, (span.end - span.start) * across, lane - 8
        body.append(rectangle(x, y, width, height, COLOURS[span.layer % len(COLOURS)], label))
        body += _name(x, y, width, height, layer)
    bottom = _TOP + len(lanes) * lane
    body += _across(bottom, cycles, "cycles")
    body.append(text(_LEFT, bottom + 34, "one colour per layer; point at a bar for its name, what it does and when"))
    return picture("Expected schedule", _LEFT, _LEFT + _WIDTH + 20, bottom + 44, body)
