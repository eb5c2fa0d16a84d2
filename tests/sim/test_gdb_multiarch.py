"""GDB itself, scripted: it stops in a kernel on core 3, looks, steps, watches the DMA, and changes nothing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier

GDB = shutil.which("gdb-multiarch")

SCRIPT = """
set pagination off
set confirm off
set architecture riscv:rv32
file {symbols}
target remote 127.0.0.1:{port}
watch *(unsigned *)&l1_image
continue
delete
break tvmgen_default_conv2d thread 4
continue
printf "in core %d\\n", $_thread - 1
x/4xb &l1_image
info registers lpcount0 ft0 pc
stepi
stepi
info threads
delete
continue
"""


@pytest.mark.skipif(GDB is None, reason="gdb-multiarch is not installed")
def test_a_scripted_session(tmp_path: Path) -> None:
    assert GDB is not None
    onnx.save(classifier(), tmp_path / "classifier.onnx")
    app = tvm_pulp.compile(tmp_path / "classifier.onnx", target="c", soc="siracusa", input_types={"image": "uint8"})
    app.save(tmp_path / "classifier.tar")
    image = np.arange(144, dtype=np.uint8).reshape(1, 4, 6, 6)
    np.savez(tmp_path / "in.npz", image=image)
    expected = app.run({"image": image})
    command = [sys.executable, "-m", "tvm_pulp.tvmc.main", "run", "classifier.tar", "--inputs", "in.npz"]
    command += ["--gdb", "0", "--report", "report.json", "--outputs", "out.npz"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        assert run.stderr is not None
        said = ""
        while "waiting for GDB" not in said:
            line = run.stderr.readline()
            assert line, said
            said += line
        symbols, port = re.search(r"symbols in (\S+)", said), re.search(r"127\.0\.0\.1:(\d+)", said)
        assert symbols and port
        script = tmp_path / "script.gdb"
        script.write_text(SCRIPT.format(symbols=symbols[1], port=port[1]))
        done = subprocess.run([GDB, "-q", "-batch", "-x", str(script)], capture_output=True, text=True, timeout=120)
        assert run.wait(60) == 0, done.stdout + done.stderr
    shown = done.stdout
    assert "Hardware watchpoint 1: *(unsigned *)&l1_image" in shown and "New value = " in shown, shown + done.stderr
    assert re.search(r'Thread 4 "core 3" hit Breakpoint 2, .* in tvmgen_default_conv2d', shown), shown
    assert "in core 3" in shown and re.search(r"0x00\s+0x01\s+0x02\s+0x03", shown), shown
    assert "lpcount0" in shown and "ft0" in shown
    assert '"controller" (running' in shown and "exited normally" in shown
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["cycles"], report["cold_cycles"]) == (expected.report["cycles"], expected.report["cold_cycles"])
    with np.load(tmp_path / "out.npz") as outputs:
        for name, value in expected.outputs.items():
            assert np.array_equal(outputs[name], value)
