"""SoC descriptions: presets, settings, and what a wrong one says."""

from pathlib import Path

import pytest

from tvm_pulp import soc
from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss import Machine
from tvm_pulp.soc import catalog, yaml_text


def test_presets() -> None:
    assert {"host", "siracusa", "siracusa-gvsoc"} <= set(soc.names())
    silicon, model = soc.load("siracusa"), soc.load("siracusa-gvsoc")
    assert silicon.cluster.cores == 8 and silicon.memory.l1.size == 256 * 1024
    assert silicon.memory.l1.conflicts and not model.memory.l1.conflicts
    assert (silicon.timing.mul, model.timing.mul) == (1, 2)
    assert silicon.engines["neureka"].base == 0x10201000 and silicon.engines["neureka"].event_line == 12
    quirk = "gvsoc_dw_wmem_quirk"
    assert silicon.engines["neureka"].parameters[quirk] == 0 and model.engines["neureka"].parameters[quirk] == 1
    # everything else is the same chip
    assert silicon.dma == model.dma and silicon.icache == model.icache and silicon.memory.l2 == model.memory.l2


def test_a_text_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who changes what was read changes nobody else's; another text is read anew."""
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ncluster: {cores: 3}\n")
    first = catalog.read_yaml(path, "it", "with keys")
    parsed: list[str] = []
    parse = yaml_text.yaml.load
    monkeypatch.setattr(yaml_text.yaml, "load", lambda text, loader: parsed.append(text) or parse(text, loader))
    first["cluster"]["cores"] = 5
    assert catalog.read_yaml(path, "it", "with keys")["cluster"]["cores"] == 3 and not parsed
    path.write_text("name: mine\ncluster: {cores: 4}\n")
    assert catalog.read_yaml(path, "it", "with keys")["cluster"]["cores"] == 4 and len(parsed) == 1


def test_host_is_not_simulated() -> None:
    host = soc.load("host")
    assert not host.simulated
    with pytest.raises(UserError, match="not simulated"):
        Machine(host)


def test_settings_replace_values_and_leave_the_original() -> None:
    base = soc.load("siracusa")
    changed = base.with_settings({"memory.l1.size": 131072, "cluster.cores": "4", "memory.l1.conflicts": "false"})
    assert changed.memory.l1.size == 131072 and changed.cluster.cores == 4 and changed.memory.l1.conflicts is False
    assert base.memory.l1.size == 262144 and base.cluster.cores == 8
    parameter = base.with_settings({"engines.neureka.parameters.pe_rows": 4}).engines["neureka"].parameters
    assert parameter["pe_rows"] == 4


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("memory.l1.sise", 1, "unknown setting 'memory.l1.sise': close matches: .*memory.l1.size"),
        ("cores", 4, "close matches: cluster.cores"),
        ("memory.l1", 4, "unknown setting 'memory.l1'"),
        ("nonsense", 4, "unknown setting 'nonsense'"),
        ("cluster.cores", 17, "cluster.cores is at most 16: more need a kind of core that stands in tiles"),
        ("cluster.cores", 257, "cluster.cores: input should be less than or equal to 256, not 257"),
        ("cluster.cores", "many", "cluster.cores: .*not 'many'"),
        ("memory.l1.size", 0, "memory.l1.size and memory.l2.size"),
    ],
)
def test_wrong_settings(path: str, value: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        soc.load("siracusa").with_settings({path: value})


# Parts of a CPU's block that are none, or that an order leaves out, repeats or does not know.
BLOCKS = {
    "block: {order: [d1, c0, d0]}": "cpu.block: order names each of c0, c1, d0, d1 once",
    "block: {wide_order: [d1, c0, d0, d0]}": "cpu.block: wide_order names each of",
    "block: {depth: [4]}": "cpu.block: order names each of c0, c1, d0 once",
    "block: {order: ['', c0, d0, d1]}": "cpu.block: order names each of",
    "block: {channels: [0, 2]}": "cpu.block.channels.0: input should be greater than or equal to 1",
    "block: {channels: []}": "cpu.block.channels: tuple should have at least 1",
    "block: {depth: [1000000, 1000000]}": "cpu.block.depth.0: input should be less than or equal to 256",
    "block: {pixels: 1000000000000}": "cpu.block.pixels: input should be less than",
    "block: {lane_bytes: 3}": "cpu.block.lane_bytes: input should be 1, 2 or 4",
    "depthwise: {order: [c0]}": "cpu.depthwise: order names each of c0, c1 once",
    "depthwise: {channels: [-4]}": "cpu.depthwise.channels.0: input should be greater",
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a list", "must be a mapping"),
        ("name: [", "not valid YAML"),
        ("description: no name\nsimulated: false", "name: this key is required"),
        ("name: x\nsimulated: false\ncolour: red", "colour: no such key"),
        ("name: x\nbased_on: y", "based_on names 'y'"),
        ("name: x\nbased_on: siracusa\ntiming: {mul: 0}", "timing.mul: input should be greater"),
        *((f"name: x\nbased_on: cortex-m4\ncpu: {{{part}}}", message) for part, message in BLOCKS.items()),
    ],
)
def test_wrong_descriptions(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        soc.load(path)


def test_own_description(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("based_on: siracusa\nname: small\ncluster: {cores: 2}\nmemory: {l1: {size: 65536}}\n")
    small = soc.load(path)
    assert small.name == "small" and small.cluster.cores == 2 and small.memory.l1.banks == 16
    Machine(small)


def test_unknown_names() -> None:
    with pytest.raises(UserError, match="did you mean 'siracusa'"):
        soc.load("sirakusa")
    with pytest.raises(UserError, match="cannot read"):
        soc.load("absent.yaml")


def test_what_the_simulator_cannot_do_is_a_user_error() -> None:
    for settings in ({"memory.l1.size": 100}, {"memory.l1.banks": 3}, {"icache.private_sets": 3}):
        with pytest.raises(UserError, match="cannot be simulated"):
            Machine(soc.load("siracusa").with_settings(settings))


@pytest.mark.parametrize(
    "setting", ["memory.l1.latency", "memory.l1.private_bytes", "memory.weight.banks", "timing.ordering_slack"]
)
def test_what_is_not_modelled_is_refused(setting: str) -> None:
    with pytest.raises(UserError, match="memory"):
        soc.load("siracusa").with_settings({setting: 2})
