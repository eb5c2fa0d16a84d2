"""Trains the story Llama: first in float, then with every rounding of the integer network in place.

    python scripts/story_model/train.py --out FOLDER [--budget-s 450]

Writes FOLDER/story_llama_float.npz (weights as float16, steps of all quantization points), tokenizer.json and
held_out.txt. Needs PyTorch; a small graphics processor is enough. The same seed gives the same corpus and tokenizer
everywhere, and the same weights on the same machine.
"""

import argparse
import json
import math
import multiprocessing
import os
import time
from pathlib import Path

import corpus
import numpy as np
import tokenizer
import torch
from model import Llama, Shape
from torch.nn import functional

PART = 5000


def _part(arguments: tuple[int, int]) -> list[str]:
    return corpus.training(arguments[0], PART, arguments[1])


def read_stories(seed: int, count: int) -> list[str]:
    parts = [(seed, index) for index in range(math.ceil(count / PART))]
    with multiprocessing.get_context("spawn").Pool(min(16, os.cpu_count() or 1)) as pool:
        return [story for part in pool.map(_part, parts, chunksize=1) for story in part][:count]


class Batches:
    """Windows of the corpus that begin with a story."""

    def __init__(self, encoded: list[list[int]], length: int, device: str, seed: int) -> None:
        stream = np.concatenate([np.array(ids, np.int64) for ids in encoded])
        starts = np.cumsum([0, *(len(ids) for ids in encoded[:-1])])
        self._starts = torch.from_numpy(starts[starts + length + 1 <= len(stream)]).to(device)
        self._stream = torch.from_numpy(stream).to(device)
        self._length, self._device = length, device
        self._random = torch.Generator(device).manual_seed(seed)

    def draw(self, size: int) -> torch.Tensor:
        picked = torch.randint(len(self._starts), (size,), generator=self._random, device=self._device)
        offsets = torch.arange(self._length + 1, device=self._device)
        return self._stream[self._starts[picked][:, None] + offsets]


def perplexity(model: Llama, stories: list[list[int]], device: str) -> float:
    """Of every piece after the first, story by story."""
    total, count = 0.0, 0
    model.eval()
    with torch.no_grad():
        for ids in stories:
            tokens = torch.tensor([ids[: model.shape.context]], device=device)
            logits = model(tokens[:, :-1])
            total += float(functional.cross_entropy(logits[0].float(), tokens[0, 1:], reduction="sum"))
            count += tokens.shape[1] - 1
    model.train()
    return math.exp(total / count)


def optimize(
    model: Llama, batches: Batches, steps: int, size: int, rate: float, budget_s: float, low_precision: bool
) -> int:
    """AdamW with warm-up and cosine decay; fewer steps where the budget asks for it. Returns the steps taken."""
    scales = [p for name, p in model.named_parameters() if name.endswith(("log_step", "log_scale"))]
    chosen = {id(p) for p in scales}
    others = [p for p in model.parameters() if id(p) not in chosen]
    groups = [
        {"params": [p for p in others if p.dim() == 2], "weight_decay": 0.1},
        {"params": [p for p in others if p.dim() < 2], "weight_decay": 0.0},
        {"params": scales, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))
    began, probe, index = time.time(), 60, 0
    warm_up = min(200, steps // 10 + 1)
    while index < steps:
        if index == probe:
            began = time.time()
        if index == 2 * probe and budget_s:
            fitting = int(budget_s / ((time.time() - began) / probe))
            steps = min(steps, max(fitting, index + 1))
        factor = min((index + 1) / warm_up, 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * index / steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate * factor
        tokens = batches.draw(size)
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=low_precision):
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        index += 1
        if index % 200 == 0 or index == steps:
            print(f"step {index} of {steps}: loss {float(loss.detach()):.4f}, {time.time() - began:.0f} s", flush=True)
    return index


def save(path: Path, model: Llama, facts: dict[str, float]) -> None:
    arrays = {
        name: value.detach().cpu().numpy().astype(np.float32 if value.dim() < 2 else np.float16)
        for name, value in model.state_dict().items()
    }
    np.savez(path, facts=np.array(json.dumps(facts)), shape=np.array(json.dumps(vars(model.shape))), **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stories", type=int, default=150_000)
    parser.add_argument("--float-steps", type=int, default=9000)
    parser.add_argument("--integer-steps", type=int, default=5000)
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--weight-bits", type=int, default=8)
    parser.add_argument("--budget-s", type=float, default=0.0, help="seconds for both phases together; 0: no limit")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(options.seed)
    began = time.time()
    stories = read_stories(options.seed, options.stories)
    content = tokenizer.train(stories[:20_000], Shape().vocabulary)
    (options.out / "tokenizer.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    held = corpus.held_out(options.seed)
    (options.out / "held_out.txt").write_text("\n".join(held) + "\n")
    encoder = tokenizer.Encoder(content)
    encoded = [encoder.encode(story) for story in stories]
    held_ids = [encoder.encode(story) for story in held]
    print(f"{len(stories)} stories, {sum(map(len, encoded))} pieces, {time.time() - began:.0f} s", flush=True)
    model = Llama(Shape(weight_bits=options.weight_bits)).to(device)
    batches = Batches(encoded, model.shape.context, device, options.seed)
    facts: dict[str, float] = {"parameters": sum(p.numel() for p in model.parameters())}
    facts["float_steps"] = optimize(
        model, batches, options.float_steps, options.batch, 2e-3, 0.4 * options.budget_s, device == "cuda"
    )
    facts["float_perplexity"] = perplexity(model, held_ids, device)
    print(facts, flush=True)
    model.set_mode("watch")
    with torch.no_grad():
        for _ in range(4):
            model(batches.draw(min(32, options.batch))[:, :-1])
    model.start_rounding()
    print("rounded, before training", perplexity(model, held_ids, device), flush=True)
    facts["integer_steps"] = optimize(
        model, batches, options.integer_steps, options.batch, 5e-4, 0.6 * options.budget_s, False
    )
    facts["integer_perplexity"] = perplexity(model, held_ids, device)
    model.set_mode("off")
    facts["same_weights_in_float_perplexity"] = perplexity(model, held_ids, device)
    save(options.out / "story_llama_float.npz", model, facts)
    print(facts, f"{time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
