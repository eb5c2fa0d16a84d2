/* SPDX-License-Identifier: Apache-2.0
 *
 * Each core has columns, four at a time. Groups of new rows alone are turned; those that begin with rows of the cache
 * or end behind the last row are put together byte by byte. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "turn_pixels.h"

/* Four columns of `groups` groups of rows, `bytes` from a row to the next; a group at y is four times as long. */
static inline void turn(const int8_t *x, uint32_t bytes, uint32_t groups, int8_t *y) {
  const uint32_t back = 4u * bytes - 16u;
  int32_t w0, w1, w2, w3, u0, u1;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") TVM_PULP_TURN_FOUR XP_SW("%[w1]", 4, "%[y]") XP_SW("%[u0]", 4, "%[y]")
                       XP_SW("%[w3]", 4, "%[y]") XP_SW("%[w0]", 4, "%[y]") XP_LOOP_END "add %[y],%[y],%[b]\n" XP_END
                   : [x] "+r"(x), [y] "+r"(y), XP_FOUR("=&r", w), XP_TWO("=&r", u)
                   : [n] "r"(groups), [s] "r"(bytes), [b] "r"(back), TVM_PULP_TURN_SELECTORS
                   : "memory");
}

TVM_PULP_KERNEL(value_groups) {
  const uint32_t known = (uint32_t)*args->length & 3u, columns = args->columns, rows = args->rows;
  const uint32_t first = known != 0u, end = (known + rows) >> 2, groups = (rows + 6u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(columns >> 2, core, cores);
  for (uint32_t column = 4u * range.begin; column < 4u * range.end; column += 4u) {
    int8_t *y = args->y + 4u * column;
    if (first < end) turn(args->v + (4u * first - known) * columns + column, columns, end - first, y + 4u * first * columns);
  }
  for (uint32_t group = 0; group < groups; ++group) {
    if (group >= first && group < end) continue;
    uint32_t *y = (uint32_t *)(void *)(args->y + 4u * group * columns), left = known + rows - 4u * group;
    const uint32_t kept = group == 0u ? known : 0u;
    if (4u * group >= known + rows) left = 0;
    if (left > 4u) left = 4;
    const int8_t *v = args->v + (4u * group + kept - known) * columns;
    for (uint32_t i = 4u * range.begin; i < 4u * range.end; ++i) {
      uint32_t word = 0;
      for (uint32_t place = 0; place < left; ++place) {
        const int8_t byte = place < kept ? args->group[4u * i + place] : v[(place - kept) * columns + i];
        word |= (uint32_t)(uint8_t)byte << 8u * place;
      }
      y[i] = word;
    }
  }
}
