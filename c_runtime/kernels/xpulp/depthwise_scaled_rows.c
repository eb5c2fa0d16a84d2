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
#define ROWS(SCALE) XP_BY_SIGN(args->x_type, THREE_SIGNED_ROWS(SCALED(SCALE)), THREE_UNSIGNED_ROWS(SCALED(SCALE)))

void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  THREE_ROWS_LOCALS;
  const struct tvm_pulp_scaled s = tvm_pulp_scaled_of(requant);
  const struct tvm_pulp_scaled_channel c = tvm_pulp_scaled_channel_of(requant, &s, rows->channel);
  int32_t bias = args->bias[rows->channel];
  if (s.nudge) {
    ROWS(TWICE);
  } else {
    ROWS(ONCE);
  }
}
