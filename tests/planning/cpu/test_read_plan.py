"""Option --plan on a CPU by itself: decisions of a plan give its bytes again, and users may state their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError


@pytest.mark.parametrize(
    "options",
    [
        {"soc": "host"},
        {"soc": "cortex-m4", "ram": "40k"},
        {"soc": "cortex-m4", "flash": "120k"},
        {"soc": "x86-64-vnni", "threads": 3},
    ],
)
def test_the_same_bytes_again(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "net.tar"
    first = tvm_pulp.compile("zoo:resnet8", **options)
    first.save(path)
    assert tvm_pulp.compile("zoo:resnet8", soc=options["soc"], plan=path).files == first.files


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    """The plan of a network that fits into its memory."""
    return dict(json.loads(tvm_pulp.compile("zoo:resnet8", soc="cortex-m4").files["plan.json"]))


def again(folder: Path, record: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> tvm_pulp.App:
    """The network with a changed plan."""
    stated, path = json.loads(json.dumps(record)), folder / "plan.json"
    change(stated)
    path.write_text(json.dumps(stated))
    return tvm_pulp.compile("zoo:resnet8", soc="cortex-m4", plan=path)


def test_decisions_of_a_user_are_followed(tmp_path: Path, recorded: dict[str, Any]) -> None:
    wanted = tvm_pulp.compile("zoo:resnet8").run().outputs
    strips = {"first": "stem", "last": "stack1_add", "count": 4}

    def change(record: dict[str, Any]) -> None:
        record["strips"] = strips
        record["layers"][-1]["form"] = "generated loops"

    app = again(tmp_path, recorded, change)
    made = json.loads(app.files["plan.json"])
    assert made["strips"] == strips and made["arena_bytes"] < recorded["arena_bytes"]
    assert made["layers"][-1]["form"] == "generated loops" != recorded["layers"][-1]["form"]
    for name, value in app.run().outputs.items():
        np.testing.assert_array_equal(value, wanted[name])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(soc="cortex-m7"), "the plan is for --soc cortex-m7, not cortex-m4"),
        (lambda r: r["layers"].pop(), "the list of layers does not match"),
        (lambda r: r["layers"][1].update(form="attention"), "'attention' for layer 'stem' does not match"),
        (lambda r: r.update(strips={"first": "stem", "last": "stack1_add", "count": 999}), "999 strips from 'stem'"),
        (lambda r: r.update(strips={"first": "stem", "last": "nowhere", "count": 2}), "to 'nowhere' does not match"),
        (lambda r: r["layers"][1].update(parts=2), "a layer in parts where no threads share any"),
        (lambda r: r["layers"][1].update(parts=-2), "is out of range"),
        (lambda r: r.update(ram_limit=20_000), "--ram 20000 is too little"),
        (lambda r: r.update(ram_limit=1 << 40), "--ram 1099511627776: SoC cortex-m4 has 4194304 bytes of RAM"),
        (lambda r: r.pop("arena_bytes"), "arena_bytes: field required"),
    ],
)
def test_what_does_not_match_is_named(
    tmp_path: Path, recorded: dict[str, Any], change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        again(tmp_path, recorded, change)


def test_a_plan_for_another_kind_of_machine(tmp_path: Path, recorded: dict[str, Any]) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(recorded))
    with pytest.raises(UserError, match=r"or one for another kind of machine \(cortex-m4; "):
        tvm_pulp.compile("zoo:resnet8", "uma-neureka", plan=path)
    with pytest.raises(UserError, match="--ram has no effect with --plan, which decides everything"):
        tvm_pulp.compile("zoo:resnet8", soc="cortex-m4", plan=path, ram="40k")
