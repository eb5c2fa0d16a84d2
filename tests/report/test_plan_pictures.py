"""Pictures of a plan lie on one axis of cycles, use one colour per layer, and say what the colours mean."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tvm_pulp import api, soc
from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.report.cycle_axis import LEFT, WIDTH, CycleAxis, layer_colour
from tvm_pulp.report.plan_pictures import memory_map, write_pictures
from tvm_pulp.soc import CostModel

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def plan() -> PlanJson:
    return describe(api.Compilation("zoo:resnet8", api.CompileOptions(target="uma-neureka", planner="greedy")).lowered)


@pytest.fixture(scope="module")
def folder(plan: PlanJson, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pictures")
    write_pictures(made, plan, CostModel(soc.load("siracusa"), 8))
    return made


def bars(path: Path) -> list[tuple[float, float, str, str]]:
    """Left and right end, colour and tip of everything that can be pointed at."""
    found = []
    for shape in ElementTree.parse(path).getroot().findall(f"{SVG}rect"):
        tip = shape.find(f"{SVG}title")
        if tip is not None and " cycles " in (tip.text or ""):
            x, width = float(shape.attrib["x"]), float(shape.attrib["width"])
            found.append((x, x + width, shape.attrib["fill"], tip.text or ""))
    return found


def test_all_pictures_have_the_same_axis(folder: Path, plan: PlanJson) -> None:
    total = estimate_program(plan.program, len(plan.layers), CostModel(soc.load("siracusa"), 8)).cycles
    for name in ("l1", "l2", "timeline"):
        text = (folder / f"{name}.svg").read_text()
        assert f">{total:,} cycles</text>" in text and "steps</text>" not in text
        for left, right, _, tip in bars(folder / f"{name}.svg"):
            begin, end = (int(n.replace(",", "")) for n in re.findall(r"cycles ([\d,]+) to ([\d,]+)", tip)[0])
            # A tenth of a pixel is rounded away; nothing is drawn too narrow to be seen.
            assert left == pytest.approx(LEFT + begin * WIDTH / total, abs=0.06), tip
            assert right - left == pytest.approx(max(0.6, (end - begin) * WIDTH / total), abs=0.12), tip


def test_a_buffer_lives_while_its_kernel_runs(folder: Path) -> None:
    """The output of a kernel is there from the kernel's beginning to its end, in both pictures."""
    output = next(b for b in bars(folder / "l1.svg") if b[3].startswith("y of stack1_add"))
    kernel = next(
        b
        for b in bars(folder / "timeline.svg")
        if b[3].startswith("stack1_add: ") and not re.search("load|store", b[3])
    )
    assert output[0] <= kernel[0] + 0.1 and kernel[1] <= output[1] + 0.1
    assert output[2] == kernel[2]


def test_sizes_are_round(folder: Path) -> None:
    """Of L1 quarters, in KiB; a memory that holds nothing is a line, not an empty picture."""
    assert [f">{size} KiB<" in (folder / "l1.svg").read_text() for size in (64, 128, 192)] == [True] * 3


def test_an_empty_memory_is_said(plan: PlanJson) -> None:
    empty = memory_map("L2 activations: 0 bytes", [], [], 0, plan, CycleAxis.of(plan, [0] * len(plan.program), 100))
    assert "Nothing lies there at any time." in empty and empty.count("<rect") == 1
    assert int(ElementTree.fromstring(empty).attrib["height"]) < 100


def test_every_layer_is_in_the_legend(folder: Path, plan: PlanJson) -> None:
    for name in ("l1", "l2", "timeline"):
        text = (folder / f"{name}.svg").read_text()
        for number, layer in enumerate(plan.layers):
            assert (
                f'fill="{layer_colour(number)}" stroke="white" stroke-width="0.3"><title>{layer.name}</title>' in text
            )


def test_colours_differ_for_many_layers() -> None:
    assert len({layer_colour(number) for number in range(36)} | {layer_colour(None)}) == 37


def test_lives_become_cycles() -> None:
    axis = CycleAxis([-1, 2, 5, 8], [0, 100, 200, 300], 400)
    assert axis.span((0, 2)) == (0, 200)
    assert axis.span((3, 5)) == (200, 300)
    assert axis.span((8, 8)) == (300, 400)
