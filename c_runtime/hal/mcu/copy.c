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

void tvm_pulp_copy_lines(void *to, const void *from, uint32_t bytes, uint32_t line_bytes, uint32_t to_stride,
                         uint32_t from_stride) {
  uint8_t *target = to;
  const uint8_t *source = from;
  for (; bytes != 0u; bytes -= line_bytes, target += to_stride, source += from_stride)
    tvm_pulp_copy(target, source, line_bytes);
}
