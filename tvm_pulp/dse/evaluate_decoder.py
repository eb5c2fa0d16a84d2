"""Simulate a language model for a study: a prompt is read, then tokens are produced."""

import time
from typing import Any

from tvm_pulp.dse.model import Model
from tvm_pulp.toolchain.cache import digest_of


def evaluate_decoder(app: Any, model: Model) -> dict[str, Any]:
    """Figures of a run; `cycles` and `energy_uj` are those of one token after the prompt, on average."""
    from tvm_pulp.language_models.figures import phases
    from tvm_pulp.language_models.session import GenerationRequest
    from tvm_pulp.soc import recorded

    started = time.perf_counter()
    generator = app.generator()
    built = time.perf_counter()
    vocabulary = generator.facts["vocabulary"]
    # Any tokens will do: what a step takes does not depend on them.
    prompt = [(7 * position + 3) % vocabulary for position in range(model.prompt)]
    whole = generator.generate(GenerationRequest(prompt, model.tokens))
    first = generator.generate(GenerationRequest(prompt, 1))
    prefill, decode = phases(recorded(app.metadata["tvm_pulp"]), len(prompt), first, whole)
    per_token = prefill if decode is None else decode
    return {
        "cycles": per_token.cycles // per_token.tokens,
        "prefill_cycles": prefill.cycles,
        "energy_uj": None if per_token.energy_uj is None else per_token.energy_uj / per_token.tokens,
        "outputs": digest_of([",".join(map(str, whole.tokens))])[:16],
        "build_s": built - started,
        "simulate_s": time.perf_counter() - built,
    }
