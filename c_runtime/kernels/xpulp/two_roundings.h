/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions of the loops that round what an engine multiplied, add a constant row and round again. */
#ifndef TVM_PULP_TWO_ROUNDINGS_H
#define TVM_PULP_TWO_ROUNDINGS_H

#define EACH(OP) OP("1") OP("2") OP("3") OP("0")
#define FIRST(i) XP_ADDNR("%[v" i "]", "%[a" i "]", "%[s" i "]")
#define CLIP(i) XP_CLIP8("%[v" i "]", "%[v" i "]")
#define MULTIPLY(i) "mul %[v" i "],%[v" i "],%[m]\n"
#define SECOND(i) XP_ADDNR("%[v" i "]", "%[c" i "]", "%[r]")
#define PACK XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]")
/* Four columns of a row; `x` goes on to the next one. */
#define TWO_ROUNDINGS                                                                                              \
  "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\n" XP_LWR("%[v0]", "%[xs]", "%[x]") EACH(FIRST) EACH(CLIP) \
  EACH(MULTIPLY) EACH(SECOND) EACH(CLIP)
/* The constants of a group of four columns, at `stage`. */
#define TWO_ROUNDINGS_CONSTANTS                                                                                    \
  [s0] "r"(stage[0]), [s1] "r"(stage[1]), [s2] "r"(stage[2]), [s3] "r"(stage[3]), [a0] "r"(stage[4]),              \
  [a1] "r"(stage[5]), [a2] "r"(stage[6]), [a3] "r"(stage[7]), [c0] "r"(stage[8]), [c1] "r"(stage[9]),              \
  [c2] "r"(stage[10]), [c3] "r"(stage[11]), [m] "r"(args->mul), [r] "r"(args->shift)

#endif /* TVM_PULP_TWO_ROUNDINGS_H */
