"""Step tables in C say what the plan says: places, transfers, layers and tiles by name."""

import json
import re
from typing import Any

import pytest

import tvm_pulp

CASES: dict[str, dict[str, Any]] = {
    "cluster": {"target": "c", "soc": "siracusa"},
    "cluster, tiled": {"target": "c", "soc": "siracusa", "l1": 24 * 1024},
    "neureka": {"target": "uma-neureka"},
    "neureka, tiled": {"target": "uma-neureka", "l1": 24 * 1024},
}
DMA = re.compile(r"DMA_(LOAD|STORE)(_LINES)?(_OF)?\((?:BASE_\w+, )?(\d+)u, (L1_\w+)(?: \+ (\d+)u)?, ")


@pytest.fixture(scope="module", params=CASES, ids=str)
def emitted(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The emitted tables and the plan they were made from."""
    app = tvm_pulp.compile("zoo:dscnn", module_name="net", **CASES[request.param])
    return app.files["codegen/host/src/net_run.c"].decode(), json.loads(app.files["plan.json"])


def places(text: str) -> dict[str, int]:
    """L1 offsets by name."""
    return {name: int(offset) for name, offset in re.findall(r"#define (L1_\w+) L1\((\d+)u\)", text)}


@pytest.mark.sample(1)
def test_names_stand_for_the_planned_places(emitted: tuple[str, dict[str, Any]]) -> None:
    text, plan = emitted
    assert set(places(text).values()) == {block["offset"] for block in plan["blocks"]}
    for bundle in plan["bundles"]:
        found = {b["offset"] for b in plan["blocks"] if b["name"] == bundle["name"]}
        assert places(text)[f"L1_{bundle['name']}"] in found


@pytest.mark.sample(2)
def test_transfers_are_those_of_the_plan(emitted: tuple[str, dict[str, Any]]) -> None:
    """Direction, bytes and L1 address of every transfer behind the first step, in order."""
    text, plan = emitted
    at = places(text)
    written = [
        (kind.lower(), int(size), at[name] + int(offset or 0)) for kind, _, _, size, name, offset in DMA.findall(text)
    ]
    planned = []
    for step in plan["program"]:
        if step["position"] < 0:
            continue
        for action in step["actions"]:
            if action["do"] not in ("load", "store"):
                continue
            side = action["writes"] if action["do"] == "load" else action["reads"]
            parts = [part for part in side if part["space"] == "L1"]
            planned.append((action["do"], sum(part["bytes"] for part in parts), parts[0]["start"]))
    # Commands of one step are listed core by core.
    assert sorted(written) == sorted(planned) != []


@pytest.mark.sample(2)
def test_every_step_names_its_layer_and_tile(emitted: tuple[str, dict[str, Any]]) -> None:
    text, plan = emitted
    said = re.findall(r"/\* Step \d+: (\w+) (\w+), (\w+), ([^,]+?)(?:, tile (\d+) of (\d+))? \*/", text)
    for operator, name, engine, form, tile, tiles in said:
        layer = next(layer for layer in plan["layers"] if layer["name"] == name)
        assert (operator, engine, form) == (layer["op"], layer["engine"], layer["form"])
        assert int(tiles or 1) == len(layer["tiles"]) and 1 <= int(tile or 1) <= len(layer["tiles"])
    assert {name for _, name, *_ in said} == {layer["name"] for layer in plan["layers"]}


def test_there_are_names_and_no_codes(emitted: tuple[str, dict[str, Any]]) -> None:
    """What a number means stands beside it: commands are macros, members have names, constants have roles."""
    text, _ = emitted
    tables = text[text.index("/* --- ") : text.index("int32_t tvmgen_net_run(")].split("\nstatic void wait_for_job")[0]
    assert not re.search(r"\boperand\d", text)
    for line in tables.splitlines():
        if line.startswith("    ") and not line.lstrip().startswith("/*"):
            assert re.match(r"    (\.|[A-Z]|\(uint32_t\)tvmgen_|0u, /\*)", line), line
