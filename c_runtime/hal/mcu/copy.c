/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/dma.h"

typedef uint32_t __attribute__((may_alias)) word;

enum { UNROLLED = 8 }; /* words */

void tvm_pulp_copy(void *to, const void *from, uint32_t bytes) {
  uint8_t *target = to;
  const uint8_t *source = from;
  if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0u) {
    word *t = (word *)to;
    const word *s = (const word *)from;
    for (; bytes >= 4u * UNROLLED; bytes -= 4u * UNROLLED, t += UNROLLED, s += UNROLLED) {
      const word a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
      t[0] = a, t[1] = b, t[2] = c, t[3] = d, t[4] = e, t[5] = f, t[6] = g, t[7] = h;
    }
    for (; bytes >= 4u; bytes -= 4u) *t++ = *s++;
    target = (uint8_t *)t;
    source = (const uint8_t *)s;
  }
  for (; bytes != 0u; bytes--) {
    *target++ = *source++;
    /* Else the compiler makes a call of memcpy of it. */
    __asm__ volatile("" ::: "memory");
  }
}

uint32_t tvm_pulp_dma_copy_2d(uint32_t target, uint32_t source, uint32_t bytes, uint32_t line_bytes,
                              uint32_t target_stride, uint32_t source_stride) {
  for (; bytes != 0u; bytes -= line_bytes, target += target_stride, source += source_stride)
    (void)tvm_pulp_dma_copy(target, source, line_bytes);
  return 0;
}
