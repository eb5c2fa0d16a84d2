/* SPDX-License-Identifier: Apache-2.0
 *
 * The four functions that every C compiler may call on its own, for programs without a C library. */
#include "memory.h"

#include <stdint.h>

/* A loop that copies or fills must not be recognised as such and turned into a call of the function it is in. */
#if defined(__clang__)
#define KEEP_LOOPS __attribute__((no_builtin))
#elif defined(__GNUC__)
#define KEEP_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#else
#define KEEP_LOOPS
#endif

/* A word that may alias anything, as bytes may. */
typedef uint32_t __attribute__((may_alias)) word;
#define WORD_MASK (sizeof(word) - 1u)

static int are_aligned(const void *a, const void *b) { return (((uintptr_t)a | (uintptr_t)b) & WORD_MASK) == 0u; }

/* From the first byte to the last. */
KEEP_LOOPS static inline void copy_upwards(uint8_t *to, const uint8_t *from, size_t bytes) {
  if (are_aligned(to, from)) {
    for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
      *(word *)(void *)to = *(const word *)(const void *)from;
      to += sizeof(word);
      from += sizeof(word);
    }
  }
  for (; bytes != 0u; --bytes) *to++ = *from++;
}

KEEP_LOOPS void *memcpy(void *restrict destination, const void *restrict source, size_t bytes) {
  copy_upwards(destination, source, bytes);
  return destination;
}

KEEP_LOOPS void *memmove(void *destination, const void *source, size_t bytes) {
  uint8_t *to = destination;
  const uint8_t *from = source;
  /* Upwards is safe unless the destination starts inside the source. */
  if ((uintptr_t)to - (uintptr_t)from >= bytes) {
    copy_upwards(to, from, bytes);
    return destination;
  }
  for (; bytes != 0u; --bytes) to[bytes - 1u] = from[bytes - 1u];
  return destination;
}

KEEP_LOOPS void *memset(void *destination, int value, size_t bytes) {
  uint8_t *to = destination;
  for (; bytes != 0u && ((uintptr_t)to & WORD_MASK) != 0u; --bytes) *to++ = (uint8_t)value;
  const word pattern = (uint8_t)value * 0x01010101u;
  for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
    *(word *)(void *)to = pattern;
    to += sizeof(word);
  }
  for (; bytes != 0u; --bytes) *to++ = (uint8_t)value;
  return destination;
}

KEEP_LOOPS int memcmp(const void *left, const void *right, size_t bytes) {
  const uint8_t *a = left;
  const uint8_t *b = right;
  for (; bytes != 0u; --bytes, ++a, ++b) {
    if (*a != *b) return *a < *b ? -1 : 1;
  }
  return 0;
}
