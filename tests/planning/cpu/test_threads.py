"""Option --threads: parts of layers that threads of the caller compute side by side give what one thread gives."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.sim.host import WARNINGS, sources_of
from tvm_pulp.soc import load
from tvm_pulp.toolchain import build_host_program
from tvm_pulp.toolchain.project.unpack import unpack

MODEL = "zoo:resnet8"

# A pool that makes a thread for every part, and a program that runs a network with it and without, several times.
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tvmgen_default.h"

struct part {
  void (*call)(void *arguments, int32_t i);
  void *arguments;
  int32_t i;
};
static int32_t shared;

static void *begin(void *given) {
  const struct part *part = given;
  part->call(part->arguments, part->i);
  return 0;
}

static void share(void *context, void (*call)(void *arguments, int32_t i), void *arguments, int32_t parts) {
  pthread_t threads[16];
  struct part each[16];
  *(int32_t *)context += parts;
  for (int32_t i = 0; i < parts; i++) {
    each[i] = (struct part){call, arguments, i};
    if (pthread_create(&threads[i], 0, begin, &each[i]) != 0) return;
  }
  for (int32_t i = 0; i < parts; i++) (void)pthread_join(threads[i], 0);
}

int main(void) {
  static @INPUT@ input[TVMGEN_DEFAULT_INPUT_@IN@_ELEMENTS];
  static @OUTPUT@ alone[TVMGEN_DEFAULT_OUTPUT_@OUT@_ELEMENTS], together[TVMGEN_DEFAULT_OUTPUT_@OUT@_ELEMENTS];
  const struct tvm_pulp_thread_pool pool = {&shared, share};
  if (fread(input, sizeof *input, sizeof input / sizeof *input, stdin) != sizeof input / sizeof *input) return 2;
  const struct tvmgen_default_inputs inputs = {input};
  const struct tvmgen_default_outputs first = {alone}, second = {together};
  for (int32_t i = 0; i < 20; i++) {
    memset(together, 77, sizeof together);
    if (tvmgen_default_run(&inputs, &first) != 0 || tvmgen_default_run_shared(&inputs, &second, &pool) != 0) return 3;
    if (memcmp(alone, together, sizeof alone) != 0) return 4;
  }
  printf("%d\n", (int)shared);
  (void)fwrite(alone, sizeof alone, 1, stderr);
  return 0;
}
"""


def run_with_threads(folder: Path, soc: str) -> None:
    app = tvm_pulp.compile(MODEL, soc=soc, threads=3)
    facts = app.metadata["tvm_pulp"]
    unpack(app.files, folder)
    text, ends = PROGRAM, (facts["inputs"][0], facts["outputs"][0])
    for mark, end in zip(("IN", "OUT"), ends, strict=True):
        text = text.replace(f"@{mark}@", end["member"].upper()).replace(f"@{mark}PUT@", f"{end['dtype']}_t")
    (folder / "program.c").write_text(text)
    sources, headers = sources_of(folder)
    cpu = load(facts["soc"]).cpu
    flags = (*WARNINGS[1:], "-std=gnu11", "-pthread", *(cpu.flags if cpu else ()))
    program = build_host_program([*sources, folder / "program.c"], headers, extra_flags=flags)
    given = np.random.default_rng(3).integers(0, 100, ends[0]["shape"]).astype(ends[0]["dtype"])
    said = subprocess.run([program], input=given.tobytes(), capture_output=True, check=False)
    assert said.returncode == 0, said
    # More than one layer was shared, by three threads each.
    assert int(said.stdout) >= 20 * 2 * 3
    expected = app.run({ends[0]["name"]: given}).outputs[ends[1]["name"]]
    np.testing.assert_array_equal(np.frombuffer(said.stderr, ends[1]["dtype"]), expected.reshape(-1))
    plain = tvm_pulp.compile(MODEL, soc=soc).run({ends[0]["name"]: given}).outputs[ends[1]["name"]]
    np.testing.assert_array_equal(expected, plain)


@pytest.mark.parametrize("soc", ["host", "native"])
def test_threads_give_what_one_thread_gives(tmp_path: Path, soc: str) -> None:
    run_with_threads(tmp_path, soc)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threads": 0}, "--threads 0: must be at least 1"),
        ({"threads": 2, "soc": "cortex-m4"}, "--threads has no effect on --soc cortex-m4, which has one core: drop it"),
        ({"threads": 2, "soc": "siracusa"}, "--threads has no effect on --soc siracusa: drop it"),
        ({"threads": 2, "ram": "64k"}, "--threads has no effect beside --ram: drop one of them"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        tvm_pulp.compile("zoo:dscnn", **options)
