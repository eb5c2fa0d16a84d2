/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembler text of products of four rows and four columns. Registers:
 *
 *   a0 end of the weights   a1 weights   t0 rows   t1 stride   t2 4 - 3 * stride   a2-a5 weights of four columns
 *   a6, a7, ra, gp words of four rows   sums of four rows: s0-s3, s4-s7, s8-s11, t3-t6
 *
 * Every word is asked for an iteration before it is used. */
#ifndef TVM_PULP_TILES_PRODUCT_CODE_H
#define TVM_PULP_TILES_PRODUCT_CODE_H

#include "tvm_pulp/tiles.h"

#define COLUMN(DOT, w, c0, c1, c2, c3) DOT(c0, "a6", w) DOT(c1, "a7", w) DOT(c2, "ra", w) DOT(c3, "gp", w)
#define COLUMNS(DOT, NEXT)                                                                                  \
  COLUMN(DOT, "a2", "s0", "s4", "s8", "t3") NEXT("a2") COLUMN(DOT, "a3", "s1", "s5", "s9", "t4") NEXT("a3") \
  COLUMN(DOT, "a4", "s2", "s6", "s10", "t5") NEXT("a4")
#define WEIGHT(r) XP_LW(r, 4, "a1")
#define NOTHING(r)

/* From the first to the last word of the depth, with a2 as a scratch register before. */
#define DEPTH(DOT)                                                                                          \
  "slli a2,t1,1\nadd a2,a2,t1\nli t2,4\nsub t2,t2,a2\n"                                                     \
  WEIGHT("a2") WEIGHT("a3") WEIGHT("a4") WEIGHT("a5")                                                       \
  XP_LWR("a6", "t1", "t0") XP_LWR("a7", "t1", "t0") XP_LWR("ra", "t1", "t0") XP_LWR("gp", "t2", "t0")       \
  "beq a1,a0,2f\n.balign 32\n"                                                                              \
  "1:\n" COLUMNS(DOT, WEIGHT)                                                                               \
  DOT("s3", "a6", "a5") XP_LWR("a6", "t1", "t0") DOT("s7", "a7", "a5") XP_LWR("a7", "t1", "t0")             \
  DOT("s11", "ra", "a5") XP_LWR("ra", "t1", "t0") DOT("t6", "gp", "a5") XP_LWR("gp", "t2", "t0")            \
  WEIGHT("a5") "bne a1,a0,1b\n"                                                                             \
  "2:\n" COLUMNS(DOT, NOTHING) COLUMN(DOT, "a5", "s3", "s7", "s11", "t6")

/* The same by single products, whose results can be used three instructions later: a step of the depth is four rows, in
 * t0 and t1 by turns, by four columns in a6, a7, ra, gp; row pointers are a2 to a5, products t2, a0, tp. A row asks for
 * the one behind the next, and the last row of a step for the columns of the next step. */
#define AFTER(load, to, at, from) load " " to "," #at "(" from ")\n"
#define PLAIN_ROW(v, c0, c1, c2, c3, N0, N1, N2, N3, NV)                                                    \
  "mul t2," v ",a6\n" N0 "mul a0," v ",a7\n" N1 "mul tp," v ",ra\n" N2 "add " c0 "," c0 ",t2\n"            \
  "mul t2," v ",gp\n" N3 NV "add " c1 "," c1 ",a0\nadd " c2 "," c2 ",tp\nadd " c3 "," c3 ",t2\n"
#define PLAIN_STEP(N0, N1, N2, N3, V2, V3, V0, V1)                                                          \
  PLAIN_ROW("t0", "s0", "s1", "s2", "s3", , , , , V2) PLAIN_ROW("t1", "s4", "s5", "s6", "s7", , , , , V3)   \
  PLAIN_ROW("t0", "s8", "s9", "s10", "s11", , , , , V0) PLAIN_ROW("t1", "t3", "t4", "t5", "t6", N0, N1, N2, N3, V1)
/* Columns and first rows of a step, by bytes from the pointers; the other rows of the step at `j`. */
#define PLAIN_STEP_BEFORE(LOAD, j, w0, w1, w2, w3, next)                                                    \
  PLAIN_STEP(AFTER("lb", "a6", w0, "a1"), AFTER("lb", "a7", w1, "a1"), AFTER("lb", "ra", w2, "a1"),         \
             AFTER("lb", "gp", w3, "a1"), AFTER(LOAD, "t0", j, "a4"), AFTER(LOAD, "t1", j, "a5"),           \
             AFTER(LOAD, "t0", next, "a2"), AFTER(LOAD, "t1", next, "a3"))

#define PLAIN_DEPTH(LOAD)                                                                                   \
  "mv a2,t0\nadd a3,a2,t1\nadd a4,a3,t1\nadd a5,a4,t1\n"                                                   \
  "lb a6,0(a1)\nlb a7,4(a1)\nlb ra,8(a1)\nlb gp,12(a1)\n" LOAD " t0,0(a2)\n" LOAD " t1,0(a3)\n.balign 32\n" \
  "1:\n" PLAIN_STEP_BEFORE(LOAD, 0, 1, 5, 9, 13, 1) PLAIN_STEP_BEFORE(LOAD, 1, 2, 6, 10, 14, 2)             \
  PLAIN_STEP_BEFORE(LOAD, 2, 3, 7, 11, 15, 3)                                                               \
  "lw t2,8(sp)\naddi a1,a1,16\naddi a2,a2,4\naddi a3,a3,4\naddi a4,a4,4\naddi a5,a5,4\nbeq a1,t2,2f\n"      \
  PLAIN_STEP_BEFORE(LOAD, -1, 0, 4, 8, 12, 0) "j 1b\n"                                                      \
  "2:\n" PLAIN_STEP(, , , , AFTER(LOAD, "t0", -1, "a4"), AFTER(LOAD, "t1", -1, "a5"), , )

/* Sums from and to memory. */
#define SUMS(op)                                                                                            \
  op " s0,0(a0)\n" op " s1,4(a0)\n" op " s2,8(a0)\n" op " s3,12(a0)\n" op " s4,16(a0)\n" op " s5,20(a0)\n"  \
  op " s6,24(a0)\n" op " s7,28(a0)\n" op " s8,32(a0)\n" op " s9,36(a0)\n" op " s10,40(a0)\n" op " s11,44(a0)\n" \
  op " t3,48(a0)\n" op " t4,52(a0)\n" op " t5,56(a0)\n" op " t6,60(a0)\n"

/* Every row starts with the bias of its columns. */
#define BIAS(b) "lw s0,0(" b ")\nlw s1,4(" b ")\nlw s2,8(" b ")\nlw s3,12(" b ")\n"                         \
  "mv s4,s0\nmv s8,s0\nmv t3,s0\nmv s5,s1\nmv s9,s1\nmv t4,s1\nmv s6,s2\nmv s10,s2\nmv t5,s2\nmv s7,s3\nmv s11,s3\nmv t6,s3\n"

/* (sum * mul + add) >> t1 of a column, from t2 to ra. */
#define EACH(op, b, c0, c1, c2, c3) \
  op " " c0 "," c0 "," b "\n" op " " c1 "," c1 "," b "\n" op " " c2 "," c2 "," b "\n" op " " c3 "," c3 "," b "\n"
#define SCALED(mul, add, c0, c1, c2, c3)                                                                    \
  EACH("mul", mul, c0, c1, c2, c3) EACH("add", add, c0, c1, c2, c3) EACH("sra", "t1", c0, c1, c2, c3)       \
  XP_MAX(c0, c0, "t2") XP_MAX(c1, c1, "t2") XP_MAX(c2, c2, "t2") XP_MAX(c3, c3, "t2")                       \
  XP_MIN(c0, c0, "ra") XP_MIN(c1, c1, "ra") XP_MIN(c2, c2, "ra") XP_MIN(c3, c3, "ra")
#define BYTES(c0, c1, c2, c3) "sb " c0 ",0(gp)\nsb " c1 ",1(gp)\nsb " c2 ",2(gp)\nsb " c3 ",3(gp)\nadd gp,gp,t0\n"

/* The next block of columns of a struct row_job, whose address is on the stack. */
#define ROW_BLOCK(DOT)                                                                                      \
  "7:\nlw a1,4(a0)\nlw a2,12(a0)\nlw a3,16(a0)\nlw t0,0(a0)\nlw t1,8(a0)\nadd a4,a1,a2\naddi a5,a3,16\n"    \
  "sw a4,4(a0)\nsw a5,16(a0)\n" BIAS("a3") "mv a0,a4\n" DEPTH(DOT)                                          \
  "lw a0,0(sp)\nlw a1,20(a0)\nlw a2,24(a0)\nlw t1,28(a0)\nlw t2,32(a0)\nlw ra,36(a0)\nlw gp,40(a0)\nlw t0,44(a0)\n" \
  "lw a3,0(a1)\nlw a4,0(a2)\nlw a5,4(a1)\nlw a6,4(a2)\n" SCALED("a3", "a4", "s0", "s4", "s8", "t3")         \
  "lw a3,8(a1)\nlw a4,8(a2)\n" SCALED("a5", "a6", "s1", "s5", "s9", "t4")                                   \
  "lw a5,12(a1)\nlw a6,12(a2)\naddi a1,a1,16\naddi a2,a2,16\n" SCALED("a3", "a4", "s2", "s6", "s10", "t5")  \
  "sw a1,20(a0)\nsw a2,24(a0)\naddi a7,gp,4\nsw a7,40(a0)\n" SCALED("a5", "a6", "s3", "s7", "s11", "t6")    \
  "lw a3,16(a0)\nlw a4,48(a0)\n"                                                                            \
  BYTES("s0", "s1", "s2", "s3") BYTES("s4", "s5", "s6", "s7") BYTES("s8", "s9", "s10", "s11")               \
  BYTES("t3", "t4", "t5", "t6") "bne a3,a4,7b\n"

#define ALL_REGISTERS                                                                                       \
  "memory", "ra", "a2", "a3", "a4", "a5", "a6", "a7", "t3", "t4", "t5", "t6", "s0", "s1", "s2", "s3", "s4", "s5", "s6", \
  "s7", "s8", "s9", "s10", "s11"

#endif /* TVM_PULP_TILES_PRODUCT_CODE_H */
