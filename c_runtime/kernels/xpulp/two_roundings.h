/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions of the loops over four channels of some rows: they round what an engine multiplied once, or add a
 * constant row and round again. */
#ifndef TVM_PULP_TWO_ROUNDINGS_H
#define TVM_PULP_TWO_ROUNDINGS_H

#include "four_elements.h"

#define EACH(OP) OP(1) OP(2) OP(3) OP(0)
#define FIRST(i) XP_ADDNR(VALUE(i), "%[a" #i "]", "%[s" #i "]")
#define CLIP(i) XP_CLIP8(VALUE(i), VALUE(i))
#define MULTIPLY(i) "mul " VALUE(i) "," VALUE(i) ",%[m]\n"
#define SECOND(i) XP_ADDNR(VALUE(i), "%[c" #i "]", "%[r]")
/* Four columns of a row; `x` goes on to the next one. */
#define COLUMN(i) "lw " VALUE(i) ",4*" #i "(%[x])\n"
#define COLUMNS COLUMN(1) COLUMN(2) COLUMN(3) XP_LWR(VALUE(0), "%[xs]", "%[x]")
#define TWO_ROUNDINGS COLUMNS EACH(FIRST) EACH(CLIP) EACH(MULTIPLY) EACH(SECOND) EACH(CLIP)
/* Four bytes become a word of the result, which goes on to its next row. */
#define STORE_ROW FOUR_PACK XP_LOOP_END XP_SWR(VALUE(0), "%[ys]", "%[y]") XP_END
/* Clipped bytes; `f` is FLIP: where those of the result are unsigned, their sign bit is flipped. */
#define STORE_BYTES EACH(CLIP) FOUR_PACK "xor %[v0],%[v0],%[f]\n" XP_LOOP_END XP_SWR(VALUE(0), "%[ys]", "%[y]") XP_END
#define FLIP (args->y_type == TVM_PULP_INT8 ? 0 : (int32_t)0x80808080u)

/* Rows from `row` on of four columns from `first` on; each column has so many constants. */
#define FOUR_COLUMNS(constants)                                                        \
  const uint32_t columns = args->columns, at = row * columns + first;                  \
  const int32_t *x = args->x + at, *stage = args->stages + constants * first;          \
  uint8_t *y = args->y + at;                                                           \
  FOUR_LOCALS
#define COLUMN_OUTPUTS [x] "+r"(x), [y] "+r"(y), FOUR_VALUES
#define ROW_STEPS [xs] "r"(4u * columns), [ys] "r"(columns)
/* The constants of a group of four columns, at `stage`. */
#define ROUNDING_CONSTANTS XP_FOUR_OF("r", s, stage), XP_FOUR_OF("r", a, (stage + 4))
#define ROW_CONSTANTS XP_FOUR_OF("r", c, (stage + 8))
#define TWO_ROUNDINGS_CONSTANTS ROUNDING_CONSTANTS, ROW_CONSTANTS, [m] "r"(args->mul), [r] "r"(args->shift)

#endif /* TVM_PULP_TWO_ROUNDINGS_H */
