"""Figures of another simulator, kept so that ours can be held against them without it. See docs/simulators.md."""

from tvm_pulp.codegen.formats.schema import Schema


class RecordedRun(Schema):
    """One program on one device."""

    name: str
    """Of the model, for people."""
    target: str
    soc: str
    """The preset of ours that stands beside this run."""
    elf_sha256: str
    """Of the program as it was built; figures hold for no other."""
    device: str
    device_options: dict[str, str]
    revision: str | None
    """Commits of the simulator."""
    cycles: list[int]
    """Of every inference."""
    layer_cycles: list[int] | None
    outputs_sha256: str
    soc_settings: dict[str, bool | int | float] | None = None
    """Settings of the preset by which it is the machine that the device was, where they differ."""


class BaselineJson(Schema):
    """The whole file."""

    runs: list[RecordedRun]
