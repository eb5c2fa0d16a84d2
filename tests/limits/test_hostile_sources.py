"""C of an archive that reads what is not beside it, or takes all of the machine: one sentence refuses it."""

import sys
import time
from pathlib import Path

import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tvm_pulp.errors import UserError
from tvm_pulp.limits import VARIABLE
from tvm_pulp.toolchain.bounded_process import run_bounded
from tvm_pulp.toolchain.compiler import ToolchainError, build_of_archive
from tvm_pulp.toolchain.includes import IncludeReader
from tvm_pulp.toolchain.project.build_archive import build_archive

REFUSED = {
    "a device": b'#include "/dev/zero"\n',
    "a device in brackets": b"#include </dev/zero>\n",
    "a file above": b'#include "../../../etc/passwd"\n',
    "a file above, further on": b'#include "a/../../b.h"\n',
    "blanks": b'  #  include\t"/dev/zero"\n',
    "a comment between": b'#/* x */include/* y\n */"/dev/zero"\n',
    "a comment before": b'/* x\n */ #include "/dev/zero"\n',
    "a line that goes on": b'#inc\\\nlude "/dev/zero"\n',
    "a line that goes on after the mark": b'#\\\r\ninclude "/dev/zero"\n',
    "another spelling": b'%:include "/dev/zero"\n',
    "a third spelling": b'??=include "/dev/zero"\n',
    "include_next": b"#include_next </dev/zero>\n",
    "import": b'#import "/dev/zero"\n',
    "embed": b'char x[] = {\n#embed "/dev/zero"\n};\n',
    "a computed name": b'#define X "/dev/zero"\n#include X\n',
    "assembler": b'.incbin "/dev/zero"\n',
    "assembler in C": b'__asm__(".incbin \\"/dev/zero\\"");\n',
    "an assembler's include": b'__asm__(".include \\"../x.s\\"");\n',
    "an assembler's computed name": b'__asm__(".incbin \\"" NAME "\\"");\n',
    "no name": b'#include ""\n',
}
HARMLESS = (
    b'/* #include "/dev/zero" in a comment that begins before it */ int x;\n',
    b'// of node "#include </x>"\n',
    b'#include "beside.h"\n#include <stdint.h>\n#include <sys/types.h>\n',
    b"#define includes 1\n#pragma GCC unroll 4\nint include;\n",
)


@pytest.mark.parametrize("what", REFUSED)
def test_sources_that_lead_elsewhere(what: str, tmp_path: Path) -> None:
    (tmp_path / "net.c").write_bytes(b"int a;\n" + REFUSED[what])
    with (
        pytest.raises(UserError, match=r"^the archive's C does not build: error: net\.c: .*") as caught,
        build_of_archive(),
    ):
        IncludeReader([tmp_path]).read(tmp_path / "net.c")
    assert "\n" not in str(caught.value)


def test_sources_that_lead_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "beside.h").write_text("int b;\n")
    for text in HARMLESS:
        (tmp_path / "net.c").write_bytes(text)
        found = [name for name, _ in IncludeReader([tmp_path]).read(tmp_path / "net.c")]
        assert found == ["net.c", *(["beside.h"] if b"beside" in text else [])]


def test_an_archive_is_refused_before_a_compiler_starts(tmp_path: Path) -> None:
    onnx.save(classifier(), tmp_path / "net.onnx")
    app = tvm_pulp.compile(tmp_path / "net.onnx", soc="siracusa", input_types={"image": "uint8"})
    files = {**app.files, "codegen/host/src/zero.c": REFUSED["a device"]}
    with pytest.raises(UserError, match="/dev/zero"):
        tvm_pulp.App(files).run()
    script = next(name for name in app.files if name.endswith(".ld"))
    for command in (
        b"INCLUDE /dev/zero\n",
        b"INPUT(/dev/zero)\n",
        b"OUTPUT(x)\n",
        b"SECTIONS { .x : { /dev/zero(.text) } }",
    ):
        with pytest.raises(UserError, match=r"link\.ld names other files"):
            build_archive({**app.files, script: app.files[script] + command}, app.metadata)


PYTHON = (sys.executable, "-c")
# Limit -> what exceeds it, as a process with that limit.
GREEDY = {
    "compiler_bytes=2g": "try:\n x = bytearray(3 << 30)\nexcept MemoryError: raise SystemExit('out of memory')",
    "compiled_bytes=1m": "import sys; open(sys.argv[1], 'wb').write(bytes(4 << 20))",
    "compiler_seconds=1": "import time; time.sleep(60)",
}


@pytest.mark.parametrize("limit", GREEDY)
def test_a_compiler_cannot_take_everything(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, limit)
    started = time.monotonic()
    status, text = run_bounded([*PYTHON, GREEDY[limit], str(tmp_path / "out")], {})
    assert status != 0 and time.monotonic() - started < 30
    assert f"{VARIABLE}={limit.split('=')[0]}=" in text and text.count("\n") == 0
    with pytest.raises(UserError, match=r"needs more than .*; if that is meant"), build_of_archive():
        raise ToolchainError(["cc"], status, text)


def test_the_parts_of_a_compiler_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "compiler_seconds=1")
    inner = f"import os, time; open({str(tmp_path / 'number')!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    assert run_bounded([*PYTHON, outer], {})[0] != 0
    number = int((tmp_path / "number").read_text())
    for _ in range(50):
        state = Path(f"/proc/{number}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("a part of it goes on")


def test_what_a_process_says_is_kept() -> None:
    assert run_bounded([*PYTHON, "print('hello')"], {}) == (0, "hello\n")
    status, text = run_bounded([*PYTHON, "raise SystemExit('error: mine')"], {"X": "1"})
    assert (status, text) == (1, "error: mine\n")
