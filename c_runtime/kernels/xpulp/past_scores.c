/* SPDX-License-Identifier: Apache-2.0
 *
 * One head after the other: all keys, then zeros. */
#include "past_logits.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(past_scores) {
  const uint32_t length = (uint32_t)*args->length, size = args->size, capacity = args->capacity;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  for (uint32_t head = range.begin; head < range.end; ++head) {
    const uint32_t column = (args->group == 1u ? head : head / args->group) * size;
    const struct tvm_pulp_keys keys = {args->past_k + column, args->past_stride, length};
    int32_t *y = args->y + head * (capacity + 1u);
    const int8_t *q = args->q + head * size;
    y[capacity] = size == 32u ? tvm_pulp_logits_of_32(q, keys, args->mul, args->shift, y, -(1 << 30))
                              : tvm_pulp_logits_of_any(q, size >> 2, keys, args->mul, args->shift, y, -(1 << 30));
    int32_t *rest = y + length;
    uint32_t fours = (capacity - length) >> 2;
    for (uint32_t few = (capacity - length) & 3u; few != 0u; --few) *rest++ = 0;
    if (fours != 0u) {
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_SW("x0", 4, "%[y]") XP_SW("x0", 4, "%[y]") XP_SW("x0", 4, "%[y]")
                           XP_LOOP_END XP_SW("x0", 4, "%[y]") XP_END
                       : [y] "+r"(rest)
                       : [n] "r"(fours)
                       : "memory");
    }
  }
}
