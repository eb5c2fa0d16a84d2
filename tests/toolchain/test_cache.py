"""The build cache: nothing is built twice, and nothing stale is used."""

import errno
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain import Compiler, build_host_library, cached_file, compile_objects, digest_of, host_compiler
from tvm_pulp.toolchain.cache import cache_directory, digest_path
from tvm_pulp.toolchain.zig_caches import zig_caches


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


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "zeroed": lambda content: bytes(len(content)),
    "one bit": lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_again(tmp_path: Path, runs: list[Sequence[str]], damage: str) -> None:
    sources = write_project(tmp_path / "a")
    library = build_host_library(sources, [tmp_path / "a" / "include"])
    content = library.read_bytes()
    files = [path for path in (tmp_path / "cache").rglob("*") if path.suffix in (".o", ".so")]
    assert len(files) == 3
    for path in files:
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
        os.utime(path, ns=(1, 1))
    assert build_host_library(sources, [tmp_path / "a" / "include"]).read_bytes() == content
    assert len(runs) == 6, "two objects and one link again"


def test_a_file_without_its_digest_is_made_again(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    made = cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole"))
    digest_path(made).unlink()
    made.write_text("false")
    assert cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole")).read_text() == "whole"


def test_a_cache_in_which_everybody_writes_is_refused(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    made = cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole"))
    top = tmp_path / "cache"
    for bits in (0o777, 0o1777):
        top.chmod(bits)
        with pytest.raises(UserError, match=f"everybody can write in the build cache {top}.*chmod o-w"):
            cached_file("ab" * 32, ".txt", lambda place: None)
    top.chmod(0o775)
    assert cached_file("ab" * 32, ".txt", lambda place: None) == made


def test_a_cache_is_private_whatever_the_mask(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    before = os.umask(0)
    try:
        made = cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole"))
    finally:
        os.umask(before)
    assert [p.stat().st_mode & 0o777 for p in (made.parent, made.parent.parent)] == [0o755, 0o755]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_cache_of_somebody_else_is_refused(tmp_path: Path, runs: list[Sequence[str]]) -> None:
    cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole"))
    os.chown(tmp_path / "cache", 4321, 4321)
    with pytest.raises(UserError, match=r"belongs to another user \(number 4321\).*set TVM_PULP_CACHE"):
        cached_file("ab" * 32, ".txt", lambda place: None)


def test_a_cache_that_cannot_be_written_to_says_so(
    tmp_path: Path, runs: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = cached_file("ab" * 32, ".txt", lambda place: place.write_text("whole"))

    def refuse(path: Path, *_more: object, **_options: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert cached_file("ab" * 32, ".txt", lambda place: None) == made, "what is in it is used"
    with pytest.raises(UserError, match=r"is not writable \(Permission denied\): set TVM_PULP_CACHE"):
        cached_file("cd" * 32, ".txt", lambda place: None)


def test_no_home_is_a_user_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("TVM_PULP_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(UserError, match="no home folder for the build cache: set TVM_PULP_CACHE"):
        cache_directory()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo x.c: fatal error: cannot write: No space left on device; exit 1", "No space left on device; free some"),
        ("echo error: unable to create file: NoSpaceLeft; exit 1", "No space left on device; free some"),
        ("echo error: ProcessFdQuotaExceeded; exit 1", "Too many open files; allow more"),
        ("kill -9 $$", "ended by signal 9: free memory"),
    ],
)
def test_a_compiler_that_the_machine_fails_is_not_blamed_on_the_source(script: str, sentence: str) -> None:
    compiler = Compiler(name="sh", command=("/bin/sh", "-c", script), version="", identity="")
    with pytest.raises(UserError, match=f"the C compiler sh .*{sentence}"):
        compiler.run([])


def test_changed_libraries_of_zig_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them: lists of what they were made of would say that they are there."""
    library, names = tmp_path / "zig" / "o" / "12" / "library.a", tmp_path / "zig" / "h" / "34"
    with zig_caches(tmp_path / "zig") as given:
        assert given["ZIG_GLOBAL_CACHE_DIR"] == str(tmp_path / "zig")
        for path in (library, names):
            path.parent.mkdir(parents=True)
            path.write_text("content")
    monkeypatch.setattr("tvm_pulp.toolchain.zig_caches._LOOKED_AT", set())
    with zig_caches(tmp_path / "zig"):
        assert library.exists()
    library.write_text("damaged")
    monkeypatch.setattr("tvm_pulp.toolchain.zig_caches._LOOKED_AT", set())
    with zig_caches(tmp_path / "zig"):
        assert not library.exists() and not names.exists()
    assert list((tmp_path / "building").iterdir()) == []


def test_libraries_of_zig_are_not_removed_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process looks at them when zig has changed a list whose digest is noted at its end."""
    names = tmp_path / "zig" / "h" / "34"
    with zig_caches(tmp_path / "zig"):
        names.parent.mkdir(parents=True)
        names.write_text("content")
    entered = threading.Event()

    def look() -> None:
        with zig_caches(tmp_path / "zig"):
            entered.set()

    with zig_caches(tmp_path / "zig"):
        names.write_text("newer")
        monkeypatch.setattr("tvm_pulp.toolchain.zig_caches._LOOKED_AT", set())
        other = threading.Thread(target=look)
        other.start()
        assert not entered.wait(0.2) and names.exists()
    other.join()
    assert names.read_text() == "newer"


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


def test_a_folder_that_another_process_removes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mkdir` finds it, and looking at it does not: what `tvmc doctor --clean` beside a build does."""
    make, failed = Path.mkdir, []

    def mkdir(self: Path, *arguments: object, **options: object) -> None:
        if not failed:
            failed.append(self)
            raise FileExistsError(17, "File exists", str(self))
        make(self, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    made = cached_file("ab" * 32, ".txt", lambda path: path.write_text("right"), tmp_path / "cache")
    assert failed and made.read_text() == "right"
