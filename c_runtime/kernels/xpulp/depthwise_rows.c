/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"

#include "four_elements.h"

#define NARROW(CLIP)                                                                     \
  "mul %[x0],%[x0],%[m]\n" XP_ADDNR("%[x0]", "%[a]", "%[sh]") CLIP("%[x0]", "%[x0]", "%[h]"), \
      [m] "r"(mul), [a] "r"(add), [sh] "r"(shift), [h] "r"(high)

void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  const int32_t *weight = (const int32_t *)(const void *)rows->weight;
  uint32_t at = requant->per_channel ? rows->channel : 0u, n = args->out_width, step = args->y_pixel_stride;
  uint32_t gap = args->y_row_stride - n * step;
  uint32_t next = p->next, row_step = p->row_step, stride = args->stride_x;
  const uint8_t *x = rows->x;
  uint8_t *y = rows->y;
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], mul = requant->mul[at];
  int32_t shift = requant->shift, high = requant->high, x0, x1, x2;
  /* (sum + bias) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t add = tvm_pulp_xp_mac(requant->add[at], args->bias[rows->channel], mul);
  if (args->x_type == TVM_PULP_UINT8) {
    FOUR_BY_RANGE(requant, THREE_UNSIGNED_ROWS(NARROW(XP_CLIPUR)), THREE_UNSIGNED_ROWS(NARROW(XP_CLIPR)));
  } else {
    FOUR_BY_RANGE(requant, THREE_SIGNED_ROWS(NARROW(XP_CLIPUR)), THREE_SIGNED_ROWS(NARROW(XP_CLIPR)));
  }
}
