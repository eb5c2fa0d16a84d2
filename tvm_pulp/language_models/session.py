"""Generation on the simulator: one run from the first token to the last, tokens as they come."""

import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.sim.iss.result import RunResult

_POLL_SECONDS = 0.02
_CYCLES_PER_TOKEN = 40_000_000
_STATUS = {1: "the cache is full", 2: "a token is not in the vocabulary", 3: "L1 is too small for it"}


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen; a temperature of 0 takes the likeliest."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 0.0
    seed: int = 1


@dataclass(frozen=True)
class GenerationRequest:
    """A prompt and the tokens that shall follow it. Forced tokens follow whatever is sampled.

    `inputs`: what all tokens share, by name, where the model has such inputs.
    """

    prompt: Sequence[int]
    tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    forced: Sequence[int] = ()
    keep_logits: bool = False
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Generated:
    """Tokens as sampled, cycles of the prompt and of every step, and logits of every token seen if they were kept.

    `encode_cycles`: of what ran before the prompt, where it is known.
    """

    tokens: list[int]
    prefill_cycles: int
    step_cycles: list[int]
    logits: np.ndarray | None
    counters: Any
    encode_cycles: int | None = None


class ProgramMemory(Protocol):
    """Memory of a program, by addresses of its symbols."""

    def symbol(self, name: str) -> int: ...
    def write(self, address: int, data: bytes) -> None: ...
    def read(self, address: int, count: int) -> bytes: ...


def decoder_facts(metadata: dict[str, Any]) -> dict[str, Any]:
    """Facts of the language model in an archive; an archive without one is a user error."""
    facts = metadata["tvm_pulp"].get("decoder")
    if facts is None:
        raise UserError("the archive holds no language model: compile one with a recognised cache, as zoo:NAME")
    return dict(facts)


class _Run(threading.Thread):
    """The program on its machine, beside those who watch what it makes."""

    def __init__(self, device: IssDevice, machine: Machine, limit: int) -> None:
        super().__init__()
        self._device, self._machine, self._limit = device, machine, limit
        self._counters: RunResult | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._counters = self._device.execute(self._machine, 1, max_cycles=self._limit)
        except Exception as error:
            self._error = error

    def outcome(self) -> RunResult:
        """The counters of the run, at its end; raises what it raised, which then holds nothing of the run here."""
        self.join()
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
        finally:
            del error
        assert self._counters is not None
        return self._counters


class Generator:
    """A built archive of a decoder."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any]) -> None:
        self.facts, self.unit = decoder_facts(metadata), "cycles"
        self._device = IssDevice(files, metadata, profile=False)

    def check(self, request: GenerationRequest) -> None:
        """Everything that the device would refuse is a user error."""
        vocabulary, capacity = self.facts["vocabulary"], self.facts["capacity"]
        prompt, tokens = len(request.prompt), request.tokens
        refuse_if(not prompt, "the prompt is empty: give at least one token")
        refuse_if(tokens < 1, f"--tokens {tokens}: must be at least 1")
        bad = [t for t in (*request.prompt, *request.forced) if not 0 <= t < vocabulary]
        if bad:
            raise UserError(f"token {bad[0]} is not in the vocabulary of {vocabulary}: use 0 to one less")
        if prompt > capacity:
            raise UserError(
                f"the prompt has {prompt} tokens and the cache holds {capacity}: shorten it or compile with a larger "
                "--capacity"
            )
        if prompt + tokens - 1 > capacity:
            raise UserError(
                f"--tokens {tokens} after a prompt of {prompt} exceed the cache of {capacity}: ask for fewer or "
                "compile with a larger --capacity"
            )
        if len(request.forced) > tokens:
            raise UserError(f"--force-ids gives {len(request.forced)} tokens for {tokens} steps: raise --tokens")
        self.given(request)
        refuse_if(
            request.keep_logits and not self.facts.get("keeps_logits", True),
            "--outputs: logits of a text are kept in L3, which the SoC has not: drop it",
        )
        s = request.sampling
        if s.temperature < 0 or s.top_k < 0 or not 0 <= s.top_p <= 1:
            raise UserError("--temperature and --top-k must not be negative, --top-p lies between 0 and 1")

    def given(self, request: GenerationRequest) -> dict[str, np.ndarray]:
        """Arrays that all tokens share, by their symbols."""
        wanted = self.facts.get("given", [])
        if not wanted:
            refuse_if(request.inputs, "--inputs has no effect on a model that takes nothing but tokens: drop it")
            return {}
        names = ", ".join(d["name"] for d in wanted)
        refuse_if(not request.inputs, f"the model also takes {names}, the same for all tokens: give --inputs F.npz")
        arrays = prepare_inputs(wanted, request.inputs)
        return {d["symbol"]: array for d, array in zip(wanted, arrays, strict=True)}

    def stream(self, request: GenerationRequest) -> Iterator[int | Generated]:
        """Tokens as the device produces them, then everything about the run."""
        self.check(request)
        machine = self._device.load([])
        self.write(machine, request)
        machine.write(machine.symbol("tvmgen_keep_logits"), struct.pack("<I", request.keep_logits))
        limit = _CYCLES_PER_TOKEN * (len(request.prompt) + request.tokens)
        run = _Run(self._device, machine, limit)
        run.start()
        shown = 0
        while True:
            alive = run.is_alive()
            # The start code of the device has not cleared the number before the first instructions have run.
            produced = self._word(machine, "tvmgen_produced") if alive else request.tokens
            if alive and produced <= request.tokens:
                yield from self._words(machine, "tvmgen_tokens", produced)[shown:]
                shown = max(shown, produced)
            if not alive:
                break
            time.sleep(_POLL_SECONDS)
        with machine:  # a caller that leaves before leaves it to the run, which is the last that refers to it
            made = self.read(machine, request, run.outcome())
        yield from made.tokens[shown:]
        yield made

    def generate(self, request: GenerationRequest) -> Generated:
        """The whole run at once."""
        *_, last = self.stream(request)
        assert isinstance(last, Generated)
        return last

    def write(self, machine: "ProgramMemory", request: GenerationRequest) -> None:
        """Tell the program what is wanted."""
        step, s = self.facts["logit_step"], request.sampling
        multiplier = round(2**24 * step * np.log2(np.e) / s.temperature) if s.temperature > 0 else 0
        multiplier = min(max(multiplier, 1), 2**32 - 1) if s.temperature > 0 else 0
        words = {
            "tvmgen_prompt_count": [len(request.prompt)],
            "tvmgen_token_count": [request.tokens],
            "tvmgen_forced_count": [len(request.forced)],
            "tvmgen_sampling": [multiplier, s.top_k, round(s.top_p * 65536), (s.seed * 2654435761 + 1) % 2**32 or 1],
            "tvmgen_prompt": list(request.prompt),
            "tvmgen_forced": list(request.forced),
            "tvmgen_produced": [0],
        }
        for symbol, values in words.items():
            machine.write(machine.symbol(symbol), struct.pack(f"<{len(values)}I", *values))
        for symbol, array in self.given(request).items():
            machine.write(machine.symbol(symbol), array.tobytes())

    def _words(self, machine: "ProgramMemory", symbol: str, count: int) -> list[int]:
        return list(struct.unpack(f"<{count}I", machine.read(machine.symbol(symbol), 4 * count)))

    def _word(self, machine: "ProgramMemory", symbol: str) -> int:
        return self._words(machine, symbol, 1)[0]

    def kept_logits(self, machine: Any, size: int) -> bytes:
        """Logits that the program has kept."""
        return bytes(machine.read_l3(0, size))

    def read(self, machine: "ProgramMemory", request: GenerationRequest, counters: Any) -> Generated:
        """The tokens that the program has made, with what they took and their logits."""
        status = self._word(machine, "tvmgen_status")
        if status:
            raise RuntimeError(f"the device refused: {_STATUS.get(status, status)}")
        logits = None
        if request.keep_logits:
            rows = len(request.prompt) + request.tokens - 1
            raw = self.kept_logits(machine, 4 * rows * self.facts["vocabulary"])
            logits = np.frombuffer(raw, np.int32).reshape(rows, -1).copy()
            if self.facts.get("logits") == "float32":
                # The device keeps integers of the same order; the bits below the sign are what they were.
                logits = (logits ^ ((logits >> 31) & 0x7FFFFFFF)).view(np.float32)
        return Generated(
            self._words(machine, "tvmgen_tokens", request.tokens),
            self._word(machine, "tvmgen_prefill_cycles"),
            self._words(machine, "tvmgen_step_cycles", request.tokens),
            logits,
            counters,
            self._word(machine, "tvmgen_encode_cycles") if self.facts.get("encodes") else None,
        )
