/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantization, one channel after the other: its constants stay in registers. */
#include "tvm_pulp/plain/elementwise.h"

#include "tvm_pulp/scale.h"

/* Cores share the channels, which are rows or columns. */
TVM_PULP_KERNEL(requantize) {
  const uint32_t bytes = tvm_pulp_result_bytes(&args->requant);
  if (args->x_type != TVM_PULP_INT32 || args->zero_point != 0 || args->lines != 1u ||
      args->requant.kind >= TVM_PULP_REQUANT_SHIFT) {
    tvm_pulp_plain_requantize(args, core, cores);
    return;
  }
  const struct tvm_pulp_range share = tvm_pulp_share(args->per_row ? args->rows : args->columns, core, cores);
  for (uint32_t channel = share.begin; channel < share.end; channel++) {
    if (args->per_row) {
      tvm_pulp_finish_channel(&args->requant, tvm_pulp_row(args->x, channel, args->x_stride), 1, args->columns,
                              tvm_pulp_out_row(args->y, channel, args->y_stride), bytes, channel);
    } else {
      tvm_pulp_finish_channel(&args->requant, (const int32_t *)args->x + channel, args->x_stride >> 2, args->rows,
                              (uint8_t *)args->y + channel * bytes, args->y_stride, channel);
    }
  }
}
