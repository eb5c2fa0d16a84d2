"""How `scripts/bench tokens` cuts the time of a token: what the engine works, what core 0 does alone, and gaps."""

from typing import Any

import pytest

from tests.scripts.load_script import load_script


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("bench_tokens", monkeypatch)


def test_terms_add_up(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The last execution alone counts; waits and submissions compute nothing, calls inside others belong to them."""
    token = bench.LastToken()
    token.jobs = [(10, 40), (120, 160), (150, 200)]
    token.calls = [
        (0, 90, 0, "tvm_pulp_execute"),
        (5, 80, 1, "tvm_pulp_kernel_old"),
        (100, 300, 0, "tvm_pulp_execute"),
        (110, 130, 1, "tvm_pulp_kernel_norm"),
        (112, 118, 2, "tvm_pulp_norm_rows"),
        (130, 190, 1, "neureka_wait"),
        (230, 260, 1, "tvm_pulp_kernel_add"),
    ]
    token.show()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "  steps 200: NEUREKA works 80, core 0 alone 40"
    # 100 to 110, 200 to 230, 260 to 300.
    assert lines[1] == "  gaps 80: add to end 1 x 40; job to add 1 x 30; end to norm 1 x 10"
