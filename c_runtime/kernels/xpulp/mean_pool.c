/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time; the last four reach back where channels are not a multiple of four. Work is shared in output
 * pixels and channel groups. */
#include "pool_window.h"
#include "requantize_block.h"
#include "tvm_pulp/plain/mean_pool.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(mean_pool) {
  const struct tvm_pulp_pool_args *pool = &args->pool;
  if (pool->channels < 4u) {
    tvm_pulp_plain_mean_pool(args, core, cores);
    return;
  }
  uint32_t groups = (pool->channels + 3u) >> 2, is_unsigned = pool->x_type == TVM_PULP_UINT8;
  struct tvm_pulp_range range = tvm_pulp_share(pool->out_height * pool->out_width * groups, core, cores);
  for (uint32_t at = range.begin; at < range.end;) {
    uint32_t pixel = at / groups, group = at - pixel * groups;
    uint32_t oy = pixel / pool->out_width, ox = pixel - oy * pool->out_width;
    uint32_t last = group + (range.end - at) < groups ? group + (range.end - at) : groups;
    struct window w = find_window(pool, oy, ox);
    int32_t zeros = args->zero_point * (int32_t)(w.rows * w.columns);
    at += last - group;
    for (; group < last; ++group) {
      uint32_t channel = 4u * group + 4u > pool->channels ? pool->channels - 4u : 4u * group;
      int32_t total[4];
      sum(&w, w.x + channel, is_unsigned, total);
      for (uint32_t i = 0; i < 4u; ++i) total[i] -= zeros;
      tvm_pulp_requantize_channel(&args->requant, total, 4, pool->y + pixel * pool->channels + channel, 1, 0);
    }
  }
}
