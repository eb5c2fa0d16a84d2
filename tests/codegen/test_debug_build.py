"""Debug builds: right programs pass every check, and a planted fault is found with the name of its layer."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp import api
from tvm_pulp.codegen.debug_source import GUARD_BYTES, checksum, watched_executor
from tvm_pulp.entry_point import emit_for
from tvm_pulp.errors import UserError, WrongLayer
from tvm_pulp.planning.program.positions import compute_position
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.target import Target

# Kernels in tiles with constants in bundles; jobs in tiles with weights in their own memory.
BUILDS = {
    "cores": (
        "zoo:dscnn",
        api.CompileOptions(target="c", soc="siracusa", l1="8k", planner="greedy", debug=True, module_name="net"),
    ),
    "accelerator": (
        "zoo:resnet8",
        api.CompileOptions(target="uma-neureka", l1="24k", planner="greedy", debug=True, module_name="net"),
    ),
}


@dataclass(frozen=True)
class Build:
    """A plan that faults can be planted into, and the inputs that its checks expect."""

    target: Target
    plan: Plan
    inputs: list[np.ndarray]

    def files(self, plan: Plan) -> dict[str, bytes]:
        return emit_for(self.target, lower(plan, [b for b, _ in self.target.engines]), debug_inputs=self.inputs)

    def run(self, files: dict[str, bytes], inputs: list[np.ndarray] | None = None) -> str:
        app = api.App(files)
        device = IssDevice(app.files, app.metadata)
        machine = device.load(self.inputs if inputs is None else inputs)
        device.execute(machine, 1)
        assert device.debug_text is not None
        return device.debug_text

    def fault(self, files: dict[str, bytes]) -> str:
        with pytest.raises(WrongLayer) as found:
            self.run(files)
        return str(found.value)


@pytest.fixture(params=BUILDS)
def build(request: pytest.FixtureRequest) -> Build:
    """Made anew for every test, since faults are planted into it."""
    return built(*BUILDS[request.param])


def built(model: str, options: api.CompileOptions) -> Build:
    compilation = api.Compilation(model, options)
    return Build(compilation.target, compilation.plan, compilation.entry.arrays(None))


@pytest.mark.sample(1)
def test_right_programs_pass(build: Build) -> None:
    files = build.files(build.plan)
    text = build.run(files)
    count = int(re.findall(r"all (\d+) checks", text)[0])
    # One check at least for every layer and every buffer.
    assert count >= len(build.plan.layers) + len([b for b in build.plan.schedule.blocks if b.bytes])
    table = files["codegen/host/src/net_debug.c"].decode()
    for layer in build.plan.layers:
        made = layer.layer.outputs[0].storage
        # Where it is made, or where it is used next.
        assert re.search(rf'"(output {made.source or made.name}|(output|input) {made.name})\b', table), layer.layer.name
    # Another input has other results: they are not compared.
    other = [np.zeros_like(array) for array in build.inputs]
    assert "not the sample input" in build.run(files, other)


@pytest.mark.sample(1)
def test_buffers_have_room_between_them(build: Build) -> None:
    blocks = [b for b in build.plan.schedule.blocks if b.bytes]
    for a in blocks:
        for b in blocks:
            if a is not b and a.first <= b.last and b.first <= a.last and a.offset <= b.offset:
                assert b.offset >= a.offset + a.bytes + GUARD_BYTES


@pytest.mark.sample(1)
def test_a_flipped_weight_byte(build: Build) -> None:
    """The table keeps what is right; the weights do not."""
    right = build.files(build.plan)
    table = "codegen/host/src/net_debug.c"
    layer = build.plan.layers[len(build.plan.layers) // 2].layer
    weights = [t for t in build.plan.constants() if t.name.startswith(layer.name) and t.data is not None]
    largest = max(weights, key=lambda t: t.spec.bytes)
    assert largest.data is not None
    damaged = bytearray(np.ascontiguousarray(largest.data).tobytes())
    damaged[len(damaged) // 2] ^= 0x40
    largest.data = np.frombuffer(bytes(damaged), largest.data.dtype).reshape(largest.data.shape)
    message = build.fault({**build.files(build.plan), table: right[table]})
    assert f"layer '{layer.name}' is the first that is wrong: output {layer.name}" in message


def changed_transfer(plan: Plan, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> tuple[Plan, Any]:
    """The plan with one transfer of an activation changed, and the move it belongs to."""
    moves = list(plan.schedule.moves)
    number, move = next((i, m) for i, m in enumerate(moves) if isinstance(m.source, Tensor) and wanted(m))
    moves[number] = replace(move, transfers=tuple(change(t) for t in move.transfers))
    return replace(plan, schedule=replace(plan.schedule, moves=tuple(moves))), move


LINES = {
    "cores": BUILDS["cores"],
    "accelerator": (
        "zoo:vit_block",
        api.CompileOptions(target="uma-neureka", l1="24k", planner="greedy", debug=True, module_name="net"),
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", LINES)
def test_a_wrong_dma_stride(name: str) -> None:
    """Of a load where the accelerator has one in lines, of a store where the cores have."""
    build = built(*LINES[name])

    def in_lines(move: Any) -> bool:
        activation = move.source.storage.kind in ("activation", "input", "output")
        return activation and any(t.is_2d for t in move.transfers)

    wrong, move = changed_transfer(build.plan, in_lines, lambda t: replace(t, stride=t.stride + 4) if t.is_2d else t)
    assert move.outward == (not build.target.engines)
    message = build.fault(build.files(wrong))
    # Of what was stored wrongly the reader is named, and whose it is; of what is loaded wrongly, the layer itself.
    layer, tensor = build.plan.layers[move.layer].layer.name, move.source.storage.name
    named = f"stored by {layer} and loaded here" if move.outward else f"layer '{layer}' is the first that is wrong"
    assert named in message and f"input {tensor}" in message, message


@pytest.mark.sample(1)
def test_an_overlapping_buffer(build: Build) -> None:
    """A buffer that begins in the middle of its neighbour, which lives at the same time."""
    schedule = build.plan.schedule
    held = {m.place.block for m in schedule.moves if not isinstance(m.source, Tensor)}
    blocks = [b for b in schedule.blocks if b.bytes > 256 and b not in held]

    def alone(a: Any, b: Any, offset: int) -> bool:
        """Tell if b at another place lies over a and nothing else: over a table of addresses it would do anything."""
        there = (c for c in schedule.blocks if c not in (a, b) and c.first <= b.last and b.first <= c.last)
        return all(c.offset >= offset + b.bytes or c.offset + c.bytes <= offset for c in there)

    # An operand and the result that is made of it: writing the one destroys the other.
    a, b, offset = next(
        (a, b, a.offset + (a.bytes // 2) // 16 * 16)
        for a in blocks
        for b in blocks
        if a.offset < b.offset
        and a.layer == b.layer
        and a.first < b.first <= a.last < b.last
        and alone(a, b, a.offset + (a.bytes // 2) // 16 * 16)
    )
    b.offset = offset
    message = build.fault(build.files(build.plan))
    assert f"layer '{build.plan.layers[a.layer].layer.name}' is the first that is wrong" in message, message


@pytest.mark.sample(1)
def test_a_write_behind_a_buffer(build: Build) -> None:
    """A load that brings a little more than its buffer holds; what it should bring is right."""

    def whole(move: Any) -> bool:
        one = len(move.transfers) == 1 and not move.transfers[0].is_2d
        later = move.position > compute_position(0)  # buffers get their guards in the first step
        return later and one and not move.outward and move.source.storage.kind in ("activation", "input")

    def longer(transfer: Any, place: Any) -> Any:
        size = aligned(place.block.bytes, L1_ALIGNMENT) + GUARD_BYTES // 2 - place.offset - transfer.local
        return replace(transfer, bytes=size, line=size, stride=size)

    moves = list(build.plan.schedule.moves)
    number, move = next((i, m) for i, m in enumerate(moves) if isinstance(m.source, Tensor) and whole(m))
    moves[number] = replace(move, transfers=(longer(move.transfers[0], move.place),))
    wrong = replace(build.plan, schedule=replace(build.plan.schedule, moves=tuple(moves)))
    message = build.fault(build.files(wrong))
    layer = build.plan.layers[move.layer].layer.name
    assert f"layer '{layer}' is the first that is wrong: bytes behind buffer {move.place.block.name}" in message


def test_jobs_that_overwrite_each_other_s_operands_in_turn() -> None:
    """Queued jobs need no waits between them; the debug build looks at each result before it is gone."""
    app = tvm_pulp.compile("zoo:dscnn", target="uma-neureka", l1="20k", debug=True)
    assert re.search(r"all \d+ checks of layers", app.run().debug or "")


def test_other_builds_are_untouched() -> None:
    options = {"target": "uma-neureka", "planner": "greedy"}
    before = tvm_pulp.compile("zoo:dscnn", **options).files
    debug = tvm_pulp.compile("zoo:dscnn", debug=True, **options).files
    after = tvm_pulp.compile("zoo:dscnn", **options).files
    assert before == after and not [name for name in before if "debug" in name]
    assert not any(b"debug" in data for name, data in before.items() if name.endswith((".c", ".h")))
    more = {"codegen/host/src/default_debug.c", "runtime/debug/tvm_pulp_debug.c", "runtime/debug/tvm_pulp_debug.h"}
    assert debug.keys() - before.keys() == more and before.keys() <= debug.keys()


def test_an_executor_without_its_steps_is_refused() -> None:
    with pytest.raises(UserError, match="--debug cannot watch the steps"):
        watched_executor("int main(void) { return 0; }")


def test_checksums_tell_order_and_zeros() -> None:
    sums = {checksum(data) for data in (b"", b"\0", b"\0\0", b"ab", b"ba", b"ab\0", b"\0ab", bytes(1000), bytes(1001))}
    assert len(sums) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["zoo:story_llama", "--target=uma-neureka", "--debug"], ("--debug has no effect on a language model",)),
        (["zoo:dscnn", "--soc=siracusa", "--debug-inputs=SAVED"], ("--debug-inputs has no effect without --debug",)),
        (["zoo:dscnn", "--soc=siracusa", "--debug", "--debug-inputs=x.npz"], ("--debug-inputs", "does not exist")),
    ],
)
def test_options(
    arguments: list[str], words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "in.npz"
    np.savez(saved, np.zeros(1, np.int8))
    stated = [argument.replace("SAVED", str(saved)) for argument in arguments]
    check_refused(tvmc(capsys, "compile", *stated, "-o", tmp_path / "n.tar"), words, "compile")


def test_the_command_line_names_the_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = np.random.default_rng(3).integers(-128, 128, (1, 640)).astype(np.int8)
    np.savez(tmp_path / "in.npz", given)
    arguments = ["--soc=siracusa", "--planner=greedy", "--debug", f"--debug-inputs={tmp_path / 'in.npz'}"]
    archive = tmp_path / "n.tar"
    assert tvmc(capsys, "compile", "-q", "zoo:autoencoder", *arguments, "-o", archive).status == 0
    right = tvmc(capsys, "run", archive, "-i", tmp_path / "in.npz")
    assert right.status == 0 and "checks of layers and of the bytes between buffers passed" in right.err
    app = api.App.load(archive)
    table = "codegen/host/src/default_debug.c"
    line = re.search(rb'.*TVM_PULP_CHECK_CONTENT.*"dense3", "output.*', app.files[table])
    assert line is not None
    app.files[table] = app.files[table].replace(line[0], re.sub(rb"0x[0-9a-f]{8}u", b"0x12345678u", line[0]))
    app.save(archive)
    wrong = tvmc(capsys, "run", archive, "-i", tmp_path / "in.npz")
    assert wrong.status == 1 and "layer 'dense3' is the first that is wrong" in wrong.err and wrong.out == ""
