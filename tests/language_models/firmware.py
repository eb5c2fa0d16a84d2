"""A firmware around one or several language models: a list of calls, and what each of them left behind."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.api import App
from tvm_pulp.sim.iss.device import IssDevice

RESET, PREFILL, DECODE, REWIND = "reset", "prefill", "decode", "rewind"
_KINDS = (RESET, PREFILL, DECODE, REWIND)
_MOST_CALLS, _MOST_TOKENS = 128, 1024
_STATUS_OK = 0


@dataclass(frozen=True)
class Do:
    """A call of one of the models."""

    kind: str
    tokens: Sequence[int] = ()
    length: int = 0
    model: int = 0


@dataclass(frozen=True)
class Done:
    """Status and length after a call, and the logits that the model shows then."""

    status: int
    length: int
    logits: np.ndarray


def source(names: Sequence[str], inits: str, l1_bytes: int = 0) -> str:
    """The program in C, which takes so many bytes of L1 for itself."""
    taken = f"TVM_PULP_IN_L1 static volatile uint8_t test_taken[{l1_bytes}];" if l1_bytes else ""
    includes = "\n".join(f'#include "tvmgen_{name}.h"' for name in names)
    cases = []
    for number, name in enumerate(names):
        cases.append(f"""    if (call[0] == {number}) {{
      if (call[1] == 0) tvmgen_{name}_reset();
      if (call[1] == 1) status = tvmgen_{name}_prefill(test_tokens + call[2], (uint32_t)call[3], 0);
      if (call[1] == 2) status = tvmgen_{name}_decode(test_tokens[call[2]]);
      if (call[1] == 3) tvmgen_{name}_rewind((uint32_t)call[3]);
      if (tvm_pulp_core_id() == 0u) {{
        test_results[2u * i] = status;
        test_results[2u * i + 1u] = (int32_t)tvmgen_{name}_length();
        if (tvmgen_{name}_length() != 0u) {{
          tvm_pulp_l3_store(i * {_MOST_TOKENS}u * 4u, tvmgen_{name}_logits(), 4u * TVMGEN_{name.upper()}_VOCABULARY);
          tvm_pulp_l3_wait();
        }}
      }}
    }}""")
    body = "\n".join(cases)
    return f"""{includes}
#include "tvm_pulp/hal.h"
{inits}
{taken}
TVM_PULP_IN_L2 volatile uint32_t test_count;
TVM_PULP_IN_L2 int32_t test_calls[{_MOST_CALLS} * 4];
TVM_PULP_IN_L2 int32_t test_tokens[{_MOST_TOKENS}];
TVM_PULP_IN_L2 int32_t test_results[{_MOST_CALLS} * 2];
const struct tvm_pulp_symbol tvm_pulp_symbols[] = {{{{0, 0, 0}}}};
const uint32_t tvm_pulp_mark_count = 0;

void tvm_pulp_network(void) {{
  {"if (tvm_pulp_core_id() == 0u) neureka_init();" if inits else ""}
  {"test_taken[0] = 0;" if l1_bytes else ""}
  for (uint32_t i = 0; i < test_count; ++i) {{
    const int32_t *call = test_calls + 4u * i;
    int32_t status = 0;
    tvm_pulp_barrier();
{body}
    tvm_pulp_barrier();
  }}
}}
"""


class Firmware:
    """Models in one program; metadata of the first says how it is built."""

    def __init__(self, *apps: App, l1_bytes: int = 0) -> None:
        names = [app.metadata["model_name"] for app in apps]
        self._vocabularies = [app.metadata["tvm_pulp"]["decoder"]["vocabulary"] for app in apps]
        files: dict[str, bytes] = {}
        for app, name in zip(apps, names, strict=True):
            files |= app.files
            program = files.pop(f"codegen/host/src/{name}_program.c").decode()
        engine = next((line for line in program.splitlines() if "neureka" in line and "#include" in line), "")
        files["codegen/host/src/firmware.c"] = source(names, engine, l1_bytes).encode()
        self._device = IssDevice(files, apps[0].metadata, profile=False)

    def run(self, calls: Sequence[Do]) -> list[Done]:
        machine = self._device.load([])
        words: list[int] = []
        tokens: list[int] = []
        for do in calls:
            words += [do.model, _KINDS.index(do.kind), len(tokens), do.length or len(do.tokens)]
            tokens += do.tokens
        for symbol, values in (("test_count", [len(calls)]), ("test_calls", words), ("test_tokens", tokens)):
            machine.write(machine.symbol(symbol), struct.pack(f"<{len(values)}i", *values))
        self._device.execute(machine, 1, max_cycles=2_000_000_000)
        raw = machine.read(machine.symbol("test_results"), 8 * len(calls))
        results = np.frombuffer(raw, np.int32).reshape(-1, 2)
        return [
            Done(
                int(status),
                int(length),
                np.frombuffer(machine.read_l3(i * _MOST_TOKENS * 4, 4 * self._vocabularies[do.model]), np.int32).copy(),
            )
            for i, (do, (status, length)) in enumerate(zip(calls, results, strict=True))
        ]
