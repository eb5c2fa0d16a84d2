"""The build cache: nothing is built twice, and nothing stale is used."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain import Compiler, build_host_library, cached_file, compile_objects, digest_of, host_compiler


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """An empty cache, and a record of every compiler call."""
    monkeypatch.setenv("TVM_PULP_CACHE", str(tmp_path / "cache"))
    calls: list[Sequence[str]] = []
    original = Compiler.run

    def recording_run(self: Compiler, arguments: Sequence[str]) -> None:
        calls.append(arguments)
        original(self, arguments)

    monkeypatch.setattr(Compiler, "run", recording_run)
    return calls


def write_project(folder: Path, constant: str = "1") -> list[Path]:
    (folder / "include" / "inner").mkdir(parents=True)
    (folder / "include" / "outer.h").write_text('#include "inner/inner.h"\n')
    (folder / "include" / "inner" / "inner.h").write_text(f"#define CONSTANT {constant}\n")
    (folder / "one.c").write_text("#include <outer.h>\nint one(void);\nint one(void) { return CONSTANT; }\n")
    (folder / "two.c").write_text("int two(void);\nint two(void) { return 2; }\n")
    return [folder / "one.c", folder / "two.c"]


def test_second_build_runs_no_compiler_even_from_another_folder(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    first = build_host_library(write_project(tmp_path / "a"), [tmp_path / "a" / "include"])
    assert len(runs) == 3, "two objects and one link"
    again = build_host_library([tmp_path / "a" / "one.c", tmp_path / "a" / "two.c"], [tmp_path / "a" / "include"])
    elsewhere = build_host_library(write_project(tmp_path / "b"), [tmp_path / "b" / "include"])
    assert first == again == elsewhere
    assert len(runs) == 3


def test_change_of_a_nested_header_rebuilds_only_what_reads_it(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    sources = write_project(tmp_path / "a")
    first = build_host_library(sources, [tmp_path / "a" / "include"])
    (tmp_path / "a" / "include" / "inner" / "inner.h").write_text("#define CONSTANT 5\n")
    second = build_host_library(sources, [tmp_path / "a" / "include"])
    assert first != second
    assert len(runs) == 5, "one object and one link more"


def test_header_that_hides_another_rebuilds(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    sources = write_project(tmp_path / "a")
    folders = [tmp_path / "front", tmp_path / "a" / "include"]
    folders[0].mkdir()
    first = build_host_library(sources, folders)
    (tmp_path / "front" / "outer.h").write_text("#define CONSTANT 9\n")
    assert build_host_library(sources, folders) != first


def test_flags_and_defines_are_part_of_the_key(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    sources = write_project(tmp_path / "a")
    built = {
        build_host_library(sources, [tmp_path / "a" / "include"], defines=defines, extra_flags=flags)
        for defines in ([], ["X"], ["X=2"])
        for flags in ([], ["-O1"])
    }
    assert len(built) == 6


def test_include_folder_among_the_flags_is_refused(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    # Its headers would be invisible to the key.
    with pytest.raises(ValueError, match="include_dirs"):
        build_host_library(write_project(tmp_path / "a"), [], extra_flags=[f"-I{tmp_path}"])


def test_failing_producer_leaves_nothing_behind(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    def fail(output: Path) -> None:
        output.write_text("half")
        raise RuntimeError("stopped")

    key = digest_of(["some", "key"])
    with pytest.raises(RuntimeError, match="stopped"):
        cached_file(key, ".txt", fail)
    assert list((tmp_path / "cache" / key[:2]).iterdir()) == []

    def succeed(output: Path) -> None:
        output.write_text("whole")

    assert cached_file(key, ".txt", succeed).read_text() == "whole"


def test_digest_depends_on_borders() -> None:
    assert digest_of(["ab", "c"]) != digest_of(["a", "bc"])


def test_cache_that_is_not_a_folder_is_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TVM_PULP_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="set TVM_PULP_CACHE to a folder that is"):
        cached_file("00", ".txt", lambda output: None)


def test_objects_come_in_the_order_of_the_sources(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    one, two = write_project(tmp_path / "a")
    include = [tmp_path / "a" / "include"]
    forward = compile_objects([one, two], include, [], host_compiler())
    assert compile_objects([two, one], include, [], host_compiler()) == forward[::-1]
