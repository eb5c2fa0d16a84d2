"""Measures the story model on the simulator: perplexity, speed, energy, with and without the cache, and five stories.

    python scripts/story_model/measure.py story.tar     # an archive of zoo:story_llama; prints Markdown

Perplexity is that of every piece after the first of held-out stories, from the logits that the device computed. A step
without a cache sees the whole text again: prefill of as many tokens, measured at the end of every chunk.
"""

import argparse

import corpus
import numpy as np

from tvm_pulp.api import App
from tvm_pulp.language_models.figures import phases
from tvm_pulp.language_models.session import GenerationRequest, Generator, Sampling
from tvm_pulp.language_models.tokenizer import Tokenizer
from tvm_pulp.report.energy import Modelled, energy_text
from tvm_pulp.soc import recorded

START = 1
OPENINGS = ("Once there was a shy fox", "This is the story of a brave girl", "Lily was a kind duck", "On the hill", "")
# Seconds and millijoules of 256 tokens on silicon (arXiv 2408.04413 and its authors' slides).
PUBLISHED = {"published, with a cache": (0.75, 125), "published, without": (17.6, 3193)}


def perplexity(generator: Generator, stories: list[list[int]]) -> tuple[float, int]:
    total, count, step = 0.0, 0, generator.facts["logit_step"]
    for ids in stories:
        made = generator.generate(GenerationRequest(ids, 1, keep_logits=True))
        assert made.logits is not None
        logits = made.logits[:-1] * step
        logits -= logits.max(1, keepdims=True)
        chosen = logits[np.arange(len(ids) - 1), ids[1:]]
        total += float((np.log(np.exp(logits).sum(1)) - chosen).sum())
        count += len(ids) - 1
    return float(np.exp(total / count)), count


def story(generator: Generator, tokenizer: Tokenizer, opening: str, seed: int) -> str:
    prompt = tokenizer.encode(opening) if opening else [START]
    room = generator.facts["capacity"] - len(prompt)
    made = generator.generate(GenerationRequest(prompt, room, Sampling(temperature=0.7, top_p=0.9, seed=seed))).tokens
    # A story ends where the next one begins.
    return tokenizer.decode([*prompt, *made[: made.index(START)]] if START in made else [*prompt, *made]).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ARCHIVE")
    app = App.load(parser.parse_args().ARCHIVE)
    generator, tokenizer, soc = app.generator(), app.tokenizer(), recorded(app.metadata["tvm_pulp"])
    capacity, chunk = generator.facts["capacity"], generator.facts["chunk"]
    found, count = perplexity(generator, [tokenizer.encode(s) for s in corpus.held_out(0)])
    print(f"Perplexity on {count} held-out pieces: {found:.3f}.\n")
    first = generator.generate(GenerationRequest([START], 1))
    whole = generator.generate(GenerationRequest([START], capacity))
    _, decode = phases(soc, 1, first, whole)
    assert decode is not None and decode.energy is not None
    cycles, terms = 0, dict.fromkeys(decode.energy.terms, 0.0)
    for length in range(chunk, capacity + 1, chunk):
        made = generator.generate(GenerationRequest([START] * length, 1))
        prefill, _ = phases(soc, length, made, made)
        assert prefill.energy is not None
        cycles += chunk * prefill.cycles
        terms = {name: term + chunk * prefill.energy.terms[name] for name, term in terms.items()}
        print(f"prefill of {length}: {prefill.line}")
    energy = Modelled(terms, decode.energy.coefficients, decode.energy.common_spread)
    print("\n| 256 tokens | cycles | seconds | tokens/s | modelled energy |\n|---|--:|--:|--:|--:|")
    for name, taken, used in (
        ("with the cache", decode.cycles, decode.energy),
        ("without, the text seen again for every token", cycles, energy),
    ):
        seconds, text = taken / decode.mhz / 1e6, energy_text(used.microjoules, used.spread)
        print(f"| {name} | {taken} | {seconds:.2f} | {capacity / seconds:.0f} | {text} |")
    for name, (seconds, millijoules) in PUBLISHED.items():
        print(f"| {name} | – | {seconds} | {capacity / seconds:.0f} | {millijoules:,} mJ, measured |")
    ratio = energy.microjoules / decode.energy.microjoules
    print(f"\nRatio: {cycles / decode.cycles:.1f} in time, {ratio:.1f} in energy.")
    steps = whole.step_cycles
    print("\nA token at context 16, 64, 128, 192:", ", ".join(str(steps[n]) for n in (16, 64, 128, 192)), "cycles.\n")
    for seed, opening in enumerate(OPENINGS, 1):
        print(f"* seed {seed}: {story(generator, tokenizer, opening, seed)}")


if __name__ == "__main__":
    main()
