/* SPDX-License-Identifier: Apache-2.0
 *
 * Three loops over a row: its largest value, exponentials, results. */
#include "softmax_row.h"
#include "tvm_pulp/real.h"

/* Results of four exponentials at a time: e * factor, rounded half to even. */
static void results(const int32_t *e, uint8_t *y, uint32_t columns, float factor, int32_t high, int32_t zero_point) {
  uint32_t done = 0;
#if defined(__riscv_flen)
  const int32_t zero_points = (int32_t)((uint32_t)(uint8_t)zero_point * 0x01010101u);
  int32_t v0, v1, v2, v3;
  float f0, f1, f2, f3;
  if (columns >= 4u) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LW, 4, "%[e]")
        "fcvt.s.w %[f0],%[v0]\nfcvt.s.w %[f1],%[v1]\nfcvt.s.w %[f2],%[v2]\nfcvt.s.w %[f3],%[v3]\n"
        "fmul.s %[f0],%[f0],%[k]\nfmul.s %[f1],%[f1],%[k]\nfmul.s %[f2],%[f2],%[k]\nfmul.s %[f3],%[f3],%[k]\n"
        "fcvt.w.s %[v0],%[f0],rne\nfcvt.w.s %[v1],%[f1],rne\nfcvt.w.s %[v2],%[f2],rne\nfcvt.w.s %[v3],%[f3],rne\n"
        FOUR(XP_MIN, "%[h]") FOUR_PACK XP_ADD4("%[v0]", "%[v0]", "%[z]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END
        : [e] "+r"(e), [y] "+r"(y), FOUR_VALUES, XP_FOUR("=&f", f)
        : [n] "r"(columns >> 2), [k] "f"(factor), [h] "r"(high), [z] "r"(zero_points)
        : "memory");
    done = columns & ~3u;
  }
#endif
  for (; done < columns; ++done) *y++ = (uint8_t)(tvm_pulp_round_within((float)*e++ * factor, 0, high) + zero_point);
}

TVM_PULP_KERNEL(softmax_table) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  uint32_t columns = args->columns;
  uint32_t *e = (uint32_t *)(void *)(args->scratch + core * args->scratch_stride);
  const uint32_t *table = (const uint32_t *)(const void *)args->table;
  const uint8_t *x = args->x + range.begin * columns;
  uint8_t *y = args->y + range.begin * columns;
  for (uint32_t left = range.end - range.begin; left > 0u; --left, x += columns, y += columns) {
    uint32_t total = tvm_pulp_exponentials(x, args->x_type, columns, table, e);
    float factor = args->gain[0] / (float)(int32_t)total;
    results((const int32_t *)(const void *)e, y, columns, factor, args->high, args->zero_point);
  }
}
