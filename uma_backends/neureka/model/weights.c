/* SPDX-License-Identifier: Apache-2.0
 *
 * Unpacking of bit-plane weights, eight (3x3) or four (1x1) weights per step. */
#include <string.h>

#include "arithmetic.h"

/* Byte k of the result is bit k of `bits`: a multiplication puts seven copies of the bits at distance seven, so that
 * no two bits meet and no carry arises; the eighth is taken directly. */
static uint64_t spread_bits(uint8_t bits) {
  const uint64_t low_seven = (uint64_t)(bits & 0x7Fu) * UINT64_C(0x0002040810204081);
  return (low_seven & UINT64_C(0x0101010101010101)) | ((uint64_t)(bits >> 7) << 56);
}

/* Byte k of the result is bit k of the low nibble plus twice bit k of the high nibble. */
static uint32_t spread_nibbles(uint8_t bits) {
  const uint32_t low = ((bits & 0x0Fu) * 0x00204081u) & 0x01010101u;
  const uint32_t high = ((uint32_t)(bits >> 4) * 0x00204081u) & 0x01010101u;
  return low | high << 1;
}

/* Bytes of a word in memory order, whatever the byte order of the host. */
static inline void store_bytes(uint8_t *destination, uint64_t word, size_t count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(destination, &word, count);
#else
  for (size_t i = 0; i < count; i++) destination[i] = (uint8_t)(word >> (8 * i));
#endif
}

void neureka_unpack_planes(const uint8_t *const *planes, unsigned bits, size_t count, uint8_t *weights) {
  for (size_t first = 0; first < count; first += 8) {
    uint64_t word = 0;
    for (unsigned plane = 0; plane < bits; plane++) word |= spread_bits(planes[plane][first / 8]) << plane;
    if (count - first >= 8) {
      store_bytes(weights + first, word, 8);
    } else {
      store_bytes(weights + first, word, count - first);
    }
  }
}

void neureka_unpack_pointwise(const uint8_t *beat, unsigned bits, size_t channels, uint8_t *weights) {
  const uint32_t mask = 0x01010101u * ((1u << bits) - 1u);
  for (size_t first = 0; first < channels; first += 4, beat += 4) {
    const uint32_t word = spread_nibbles(beat[0]) | spread_nibbles(beat[1]) << 2 | spread_nibbles(beat[2]) << 4 |
                          spread_nibbles(beat[3]) << 6;
    store_bytes(weights + first, word & mask, 4);
  }
}
