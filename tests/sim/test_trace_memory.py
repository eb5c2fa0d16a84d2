"""A trace of any length is written in the same memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.sim.guest import assemble
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss.record_activity import ActivityRecorder

# Eight cores meet many times: each meeting is two spans of every core.
PROGRAM = """
.text
main:
  li s1, {times}
1:
  p_elw t1, 0x21c, s0
  addi s1, s1, -1
  bnez s1, 1b
  ret
"""
SCRIPT = """
import resource, sys
from tvm_pulp.tvmc.main import main
for program in sys.argv[1:3]:
    assert main(["sim", program, "--trace", sys.argv[3]]) == 0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_a_long_run_needs_no_more_than_a_short_one(tmp_path: Path) -> None:
    for name, times in (("short", 400), ("long", 4000)):
        (tmp_path / name).write_bytes(assemble(PROGRAM.format(times=times), 8))
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        str(tmp_path / "short"),
        str(tmp_path / "long"),
        str(tmp_path / "t.pftrace"),
    ]
    short, long = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    # 64,000 spans, a hundred bytes each where somebody kept them.
    assert (tmp_path / "t.pftrace").stat().st_size > 1_000_000
    assert long - short < 2048, f"{short} KiB, then {long} KiB"


def test_what_is_too_much_to_keep_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of a run says so; its trace is complete."""
    onnx.save(classifier(), tmp_path / "classifier.onnx")
    app = tvm_pulp.compile(tmp_path / "classifier.onnx", target="c", soc="siracusa", input_types={"image": "uint8"})
    image, paths = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6), [tmp_path / "1.pftrace", tmp_path / "2.pftrace"]
    known = app.run([image], instruments=Instruments(trace=paths[0]))
    monkeypatch.setattr(ActivityRecorder, "most", 16)
    unknown = app.run([image], instruments=Instruments(trace=paths[1]))
    assert known.report["causes"] is not None and unknown.report["causes"] is None
    assert unknown.report["cycles"] == known.report["cycles"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
