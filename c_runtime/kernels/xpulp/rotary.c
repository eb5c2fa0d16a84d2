/* SPDX-License-Identifier: Apache-2.0
 *
 * One pair at a time, with multiply-accumulate and clip instructions. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/plain/past_attention.h"
#include "tvm_pulp/xpulp.h"

static inline int32_t turned(int32_t value) {
  return tvm_pulp_xp_clipr((value + (1 << 13)) >> 14, 127);
}

TVM_PULP_KERNEL(rotary) {
  struct tvm_pulp_range range = tvm_pulp_share(args->positions * args->heads, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint32_t position = args->positions == 1u ? 0u : at / args->heads;
    const int8_t *x = args->x + (uintptr_t)at * args->size;
    const int16_t *rotation = args->rotation + (uintptr_t)position * args->size;
    int8_t *y = args->y + (uintptr_t)at * args->size;
    for (uint32_t i = 0; i < args->size; i += 2u) {
      int32_t even = x[i], odd = x[i + 1u], cosine = rotation[i], sine = rotation[i + 1u];
      y[i] = (int8_t)turned(tvm_pulp_xp_msu(even * cosine, odd, sine));
      y[i + 1u] = (int8_t)turned(tvm_pulp_xp_mac(even * sine, odd, cosine));
    }
  }
}
