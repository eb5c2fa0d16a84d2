/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the instructions that an emulated core executes, by the layer that the program says it computes. The emulator
 * calls it for every basic block. */
#include <stdint.h>

struct counter {
  const volatile uint32_t *layer; /* the program's variable: 0 outside of the network, else a layer from 1 */
  const uint8_t *code;
  uint64_t code_base, code_bytes;
  uint32_t *known;  /* by half-word: bytes of the block that begins there, and in the upper half its instructions */
  uint64_t *counts; /* of the last inference, by layer */
  uint32_t layers;  /* that there are, with 0 */
  uint32_t previous;
};

/* Instructions of Thumb code: one whose first half-word is 0xE800 or more has a second one. */
static uint32_t instructions(const uint8_t *code, uint32_t bytes) {
  uint32_t found = 0;
  for (uint32_t at = 0; at < bytes; found++) at += (code[at + 1u] >= 0xE8u) ? 4u : 2u;
  return found;
}

void tvm_pulp_count_block(void *emulator, uint64_t address, uint32_t bytes, void *data);

void tvm_pulp_count_block(void *emulator, uint64_t address, uint32_t bytes, void *data) {
  (void)emulator;
  struct counter *counter = data;
  const uint64_t offset = (address & ~(uint64_t)1) - counter->code_base;
  if (offset + bytes > counter->code_bytes || bytes > 0xFFFFu) return;
  uint32_t *known = counter->known + offset / 2u;
  if ((*known & 0xFFFFu) != bytes) *known = bytes | instructions(counter->code + offset, bytes) << 16;
  const uint32_t layer = *counter->layer;
  if (layer >= counter->layers) return;
  if (counter->previous == 0u && layer != 0u) {
    /* An inference begins: only the last one is told. */
    for (uint32_t i = 1; i < counter->layers; i++) counter->counts[i] = 0;
  }
  counter->previous = layer;
  counter->counts[layer] += *known >> 16;
}
