/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of a small picture in plain C. */
#ifndef TVM_PULP_PLAIN_SMALL_DEPTHWISE_H
#define TVM_PULP_PLAIN_SMALL_DEPTHWISE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_small_depthwise(const struct tvm_pulp_small_depthwise_args *args, uint32_t core,
                                                  uint32_t cores) {
  const uint32_t row_bytes = (args->pixels + 3u) & ~3u, all = args->channels * args->multiplier;
  const uint32_t y_stride = all * tvm_pulp_result_bytes(&args->requant);
  struct tvm_pulp_range range = tvm_pulp_share(all, core, cores);
  for (uint32_t c = range.begin; c < range.end; ++c) {
    for (uint32_t output = 0; output < args->outputs; ++output) {
      const uint32_t row = c * args->outputs + output;
      int32_t acc = args->bias[row];
      for (uint32_t pixel = 0; pixel < args->pixels; ++pixel) {
        acc += tvm_pulp_load(args->x, pixel * args->channels + c / args->multiplier, args->x_type) *
               args->weight[row * row_bytes + pixel];
      }
      tvm_pulp_finish(&args->requant, tvm_pulp_out_row(args->y, output, y_stride), c, acc, c);
    }
  }
}

#endif /* TVM_PULP_PLAIN_SMALL_DEPTHWISE_H */
