"""NE16 and NEUREKA on one SoC: both orders of the target, and layers that alternate between them."""

from pathlib import Path
from typing import Any

import pytest

from tests.simulated.test_other_machines import run_checked

BOTH = """
based_on: siracusa
name: siracusa-ne16
description: Siracusa with NE16 in the free slot beside NEUREKA
engines: {ne16: {base: 0x10201c00, event_line: 13}}
energy: {engine_mac: {ne16: 0.2}}
"""
PINS = {f"block{n}_{kind}": "ne16" if n % 2 else "neureka" for n in range(1, 5) for kind in ("depthwise", "pointwise")}


@pytest.mark.parametrize(
    ("target", "pins"),
    [
        ("uma-neureka,uma-ne16", PINS),
        pytest.param("uma-ne16,uma-neureka", PINS, marks=pytest.mark.slow),
        pytest.param("uma-neureka,uma-ne16", {}, marks=pytest.mark.slow),
        pytest.param("uma-ne16,uma-neureka", {}, marks=pytest.mark.slow),
    ],
)
def test_both_orders(tmp_path: Path, target: str, pins: dict[str, str]) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(BOTH)
    options: dict[str, Any] = {"pins": pins} if pins else {}
    report, _ = run_checked("zoo:dscnn", target=target, soc=str(path), **options)
    engines = {layer["name"]: layer["engine"] for layer in report["layers"]}
    assert {name: engines[name] for name in pins} == pins
