/* SPDX-License-Identifier: Apache-2.0
 *
 * Unpacking of the beats of 1x1 jobs, four weights per step. */
#include "engine.h"

/* Byte k of the result is bit k of the low nibble plus twice bit k of the high nibble. */
static uint32_t spread_nibbles(uint8_t bits) {
  const uint32_t low = ((bits & 0x0Fu) * 0x00204081u) & 0x01010101u;
  const uint32_t high = ((uint32_t)(bits >> 4) * 0x00204081u) & 0x01010101u;
  return low | high << 1;
}

/* Groups of four channels, eight planes of four bits each. Planes from `bits` up do not count. */
void neureka_unpack_pointwise(const uint8_t *const *beats, unsigned bits, size_t channels, uint8_t *weights) {
  const uint32_t mask = 0x01010101u * ((1u << bits) - 1u);
  const uint8_t *beat = beats[0];
  for (size_t first = 0; first < channels; first += 4, beat += 4) {
    const uint32_t word = spread_nibbles(beat[0]) | spread_nibbles(beat[1]) << 2 | spread_nibbles(beat[2]) << 4 |
                          spread_nibbles(beat[3]) << 6;
    for (size_t i = 0; i < 4; i++) weights[first + i] = (uint8_t)((word & mask) >> (8 * i));
  }
}
