"""A run on this machine says how long an inference takes, and what memory it needs."""

import io

import tvm_pulp
from tvm_pulp.report.table import print_report


def test_milliseconds_and_memory_are_reported() -> None:
    result = tvm_pulp.compile("zoo:dscnn").run()
    latency, memory = result.report["latency_ms"], result.report["memory"]
    assert 0 < latency["best"] <= latency["median"] < 1000 and 2 <= latency["runs"] <= 20
    ends = 49 * 10 + 12
    assert memory["all"]["peak"] == memory["arena"]["peak"] + memory["constants"]["peak"] + ends
    text = io.StringIO()
    print_report(result.report, result.outputs, text)
    shown = " ".join(text.getvalue().split())
    assert "ms at best" in shown and "ms median of" in shown


def test_a_simulated_run_has_no_milliseconds_of_this_machine() -> None:
    assert "latency_ms" not in tvm_pulp.compile("zoo:dscnn", soc="siracusa").run().report
