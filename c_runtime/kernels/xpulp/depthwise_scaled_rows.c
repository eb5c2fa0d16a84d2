/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"
#include "scaled.h"

/* One rounding, and TFLite's two. */
#define ONCE "mulhsu %[x0],%[x0],%[m]\n"
#define TWICE "slli %[x0],%[x0],1\nmulhsu %[x0],%[x0],%[m]\nsrai %[x1],%[x0],31\n" XP_MAC("%[x0]", "%[x1]", "%[nudge]")
#define SCALED(SCALE)                                                                                             \
  "add %[x0],%[x0],%[b]\n" SCALE XP_ADDNR("%[x0]", "%[a]", "%[sh]") XP_CLIPR("%[x0]", "%[x0]", "%[h]")             \
  "add %[x0],%[x0],%[mid]\n", [b] "r"(bias), [m] "r"(c.factor), [nudge] "r"(s.nudge), [a] "r"(c.add),              \
      [sh] "r"(c.shift), [h] "r"(s.high), [mid] "r"(s.middle)

void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  const struct tvm_pulp_scaled s = tvm_pulp_scaled_of(requant);
  const struct tvm_pulp_scaled_channel c = tvm_pulp_scaled_channel_of(requant, &s, rows->channel);
  const int32_t *weight = (const int32_t *)(const void *)rows->weight;
  uint32_t n = args->out_width, step = args->y_pixel_stride, gap = args->y_row_stride - n * step;
  uint32_t next = p->next, row_step = p->row_step, stride = args->stride_x;
  const uint8_t *x = rows->x;
  uint8_t *y = rows->y;
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], bias = args->bias[rows->channel], x0, x1, x2;
  if (args->x_type == TVM_PULP_UINT8) {
    if (s.nudge) {
      THREE_UNSIGNED_ROWS(SCALED(TWICE))
    } else {
      THREE_UNSIGNED_ROWS(SCALED(ONCE))
    }
  } else if (s.nudge) {
    THREE_SIGNED_ROWS(SCALED(TWICE))
  } else {
    THREE_SIGNED_ROWS(SCALED(ONCE))
  }
}
