/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembler text of the register tiles. Registers:
 *
 *   a0 job   a1 weights   t0 activations   t1 stride   t2 4 - 3 * stride   ra byte offset of the tile's first channel
 *   a2-a5 weights of four columns   a6, a7 activations
 *   accumulators of four rows: s0-s3, s4-s7, s8-s11, t3-t6; of two: s0-s3, s4-s7 (t3 is 4 - stride); of one: t3-t6 */
#ifndef TVM_PULP_TILE_CODE_H
#define TVM_PULP_TILE_CODE_H

#include "tvm_pulp/xpulp.h"

#define ROW0 "s0", "s1", "s2", "s3"
#define ROW1 "s4", "s5", "s6", "s7"
#define ROW2 "s8", "s9", "s10", "s11"
#define ROW3 "t3", "t4", "t5", "t6"
#define APPLY(MACRO, ...) MACRO(__VA_ARGS__)

#define WEIGHTS XP_LW("a2", 4, "a1") XP_LW("a3", 4, "a1") XP_LW("a4", 4, "a1") XP_LW("a5", 4, "a1")
#define DOTS_(DOT, x, c0, c1, c2, c3) DOT(c0, x, "a2") DOT(c1, x, "a3") DOT(c2, x, "a4") DOT(c3, x, "a5")
#define LAST_DOTS_(DOT, x, c0, c1, c2, c3) \
  DOT(c0, x, "a2") DOT(c1, x, "a3") DOT(c2, x, "a4") XP_LOOP_END DOT(c3, x, "a5")
#define DOTS(...) APPLY(DOTS_, __VA_ARGS__)
#define LAST_DOTS(...) APPLY(LAST_DOTS_, __VA_ARGS__)

/* The loop over the depth, four values at a time. No loaded register is used by the next instruction. */
#define DEPTH4(DOT)                                                                       \
  WEIGHTS XP_LWR("a6", "t1", "t0") XP_LWR("a7", "t1", "t0") DOTS(DOT, "a6", ROW0)         \
  XP_LWR("a6", "t1", "t0") DOTS(DOT, "a7", ROW1) XP_LWR("a7", "t2", "t0") DOTS(DOT, "a6", ROW2) \
  LAST_DOTS(DOT, "a7", ROW3)
#define DEPTH2(DOT)                                                                       \
  WEIGHTS XP_LWR("a6", "t1", "t0") XP_LWR("a7", "t3", "t0") DOTS(DOT, "a6", ROW0) LAST_DOTS(DOT, "a7", ROW1)
#define DEPTH1(DOT) XP_LW("a6", 4, "t0") WEIGHTS LAST_DOTS(DOT, "a6", ROW3)

/* Every row starts with the bias of its columns. */
#define BIAS_(c0, c1, c2, c3) "lw " c0 ",0(a2)\nlw " c1 ",4(a2)\nlw " c2 ",8(a2)\nlw " c3 ",12(a2)\n"
#define BIAS(...) APPLY(BIAS_, __VA_ARGS__)
#define COPY_(c0, c1, c2, c3) "mv " c0 ",s0\nmv " c1 ",s1\nmv " c2 ",s2\nmv " c3 ",s3\n"
#define COPY(...) APPLY(COPY_, __VA_ARGS__)
#define START4 BIAS(ROW0) COPY(ROW1) COPY(ROW2) COPY(ROW3)
#define START2 "li t3,4\nsub t3,t3,t1\n" BIAS(ROW0) COPY(ROW1)
#define START1 BIAS(ROW3)
/* ... and, where rows have summands of their own, with that of the row. */
#define BIASED_(x, c0, c1, c2, c3) \
  "add " c0 ",s0," x "\nadd " c1 ",s1," x "\nadd " c2 ",s2," x "\nadd " c3 ",s3," x "\n"
#define BIASED(...) APPLY(BIASED_, __VA_ARGS__)
#define BIASED_START4                                                                     \
  BIAS(ROW0) "lw a4,88(a0)\nlw a5,0(a4)\nlw a6,4(a4)\nlw a7,8(a4)\nlw a4,12(a4)\n"        \
  BIASED("a6", ROW1) BIASED("a7", ROW2) BIASED("a4", ROW3) BIASED("a5", ROW0)
#define BIASED_START2 \
  "li t3,4\nsub t3,t3,t1\n" BIAS(ROW0) "lw a4,88(a0)\nlw a5,0(a4)\nlw a6,4(a4)\n" BIASED("a6", ROW1) BIASED("a5", ROW0)
#define BIASED_START1 \
  BIAS(ROW3) "lw a4,88(a0)\nlw a5,0(a4)\nadd t3,t3,a5\nadd t4,t4,a5\nadd t5,t5,a5\nadd t6,t6,a5\n"

/* One column of accumulators through (acc * mul + add) >> shift and the clip; a4 holds its multiplier. */
#define MUL(r) "mul " r "," r ",a4\n"
#define ADD(r) XP_ADDNR(r, "a5", "a6")
#define COLUMN4(CLIP, r0, r1, r2, r3, NEXT_MUL)                                           \
  XP_LWX("a5", "a3", "a2") MUL(r0) MUL(r1) MUL(r2) MUL(r3) NEXT_MUL ADD(r0) ADD(r1) ADD(r2) ADD(r3) \
  CLIP(r0, r0, "a7") CLIP(r1, r1, "a7") CLIP(r2, r2, "a7") CLIP(r3, r3, "a7")
#define COLUMN2(CLIP, r0, r1, r2, r3, NEXT_MUL)                                           \
  XP_LWX("a5", "a3", "a2") MUL(r0) MUL(r1) NEXT_MUL ADD(r0) ADD(r1) CLIP(r0, r0, "a7") CLIP(r1, r1, "a7")
#define COLUMN1(CLIP, r0, r1, r2, r3, NEXT_MUL) XP_LWX("a5", "a3", "a2") MUL(r3) NEXT_MUL ADD(r3) CLIP(r3, r3, "a7")
#define COLUMNS(COLUMN, CLIP)                                                             \
  "lw a2,20(a0)\nlw a3,28(a0)\nlw a6,32(a0)\nand a3,a3,ra\nadd a2,a2,a3\nlw a3,24(a0)\n"  \
  XP_LW("a4", 4, "a2") "lw a7,36(a0)\n"                                                   \
  COLUMN(CLIP, "s0", "s4", "s8", "t3", XP_LW("a4", 4, "a2"))                              \
  COLUMN(CLIP, "s1", "s5", "s9", "t4", XP_LW("a4", 4, "a2"))                              \
  COLUMN(CLIP, "s2", "s6", "s10", "t5", XP_LW("a4", 4, "a2"))                             \
  COLUMN(CLIP, "s3", "s7", "s11", "t6", "")

/* The same constants for all columns. */
#define SAME4(CLIP, r0, r1, r2, r3)                                                       \
  MUL(r0) MUL(r1) MUL(r2) MUL(r3) ADD(r0) ADD(r1) ADD(r2) ADD(r3)                         \
  CLIP(r0, r0, "a7") CLIP(r1, r1, "a7") CLIP(r2, r2, "a7") CLIP(r3, r3, "a7")
#define SAME_COLUMNS4(CLIP)                                                               \
  "lw a4,56(a0)\nlw a5,60(a0)\nlw a6,32(a0)\nlw a7,36(a0)\n" SAME4(CLIP, "s0", "s4", "s8", "t3") \
  SAME4(CLIP, "s1", "s5", "s9", "t4") SAME4(CLIP, "s2", "s6", "s10", "t5") SAME4(CLIP, "s3", "s7", "s11", "t6")

/* Four bytes of a row as one word. */
#define BYTES_(c0, c1, c2, c3) XP_PACKLO(c0, c1, c0) XP_PACKHI(c0, c3, c2) XP_SWR(c0, "a3", "a2")
#define BYTES(...) APPLY(BYTES_, __VA_ARGS__)
#define BYTES_AT "lw a2,40(a0)\nsrli a4,ra,2\nlw a3,44(a0)\nadd a2,a2,a4\n"
#define BYTES4 BYTES_AT BYTES(ROW0) BYTES(ROW1) BYTES(ROW2) BYTES(ROW3)
#define BYTES2 BYTES_AT BYTES(ROW0) BYTES(ROW1)
#define BYTES1 BYTES_AT BYTES(ROW3)

/* The same with a word in a5 added, four bytes by themselves. */
#define MOVED_(c0, c1, c2, c3) XP_PACKLO(c0, c1, c0) XP_PACKHI(c0, c3, c2) XP_ADD4(c0, c0, "a5") XP_SWR(c0, "a3", "a2")
#define MOVED(...) APPLY(MOVED_, __VA_ARGS__)
#define MOVED4 BYTES_AT MOVED(ROW0) MOVED(ROW1) MOVED(ROW2) MOVED(ROW3)
#define MOVED2 BYTES_AT MOVED(ROW0) MOVED(ROW1)
#define MOVED1 BYTES_AT MOVED(ROW3)

#define WORDS_(c0, c1, c2, c3) \
  "sw " c0 ",0(a2)\nsw " c1 ",4(a2)\nsw " c2 ",8(a2)\nsw " c3 ",12(a2)\nadd a2,a2,a3\n"
#define WORDS(...) APPLY(WORDS_, __VA_ARGS__)
#define WORDS_AT "lw a2,40(a0)\nlw a3,44(a0)\nadd a2,a2,ra\n"
#define WORDS4 WORDS_AT WORDS(ROW0) WORDS(ROW1) WORDS(ROW2) WORDS(ROW3)
#define WORDS2 WORDS_AT WORDS(ROW0) WORDS(ROW1)
#define WORDS1 WORDS_AT WORDS(ROW3)

/* On to the next four rows, with the first weights again. */
#define BLOCKS4 NEXT_BLOCK("")
#define BIASED_BLOCKS4 NEXT_BLOCK("lw a4,88(a0)\naddi a4,a4,16\nsw a4,88(a0)\n")
#define NEXT_BLOCK(MORE)                                                                  \
  "lw a5,52(a0)\nlw a2,40(a0)\naddi a5,a5,-1\nlw a3,44(a0)\nbeqz a5,6f\nsw a5,52(a0)\nslli a3,a3,2\nadd a2,a2,a3\n" \
  "sw a2,40(a0)\nlw a1,4(a0)\nslli a4,t1,2\nadd t0,t0,a4\nli ra,0\n" MORE "j 7b\n6:\n"
#define BLOCKS2
#define BLOCKS1
#define BIASED_BLOCKS2
#define BIASED_BLOCKS1

#define CLOBBER4 "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
#define CLOBBER2 "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t3"
#define CLOBBER1 "t3", "t4", "t5", "t6"

#define TILE_FUNCTION(name, ROWS, DOT, FINISH) TILE_FUNCTION_OF(name, ROWS, START##ROWS, DOT, FINISH, BLOCKS##ROWS)
/* With the summands of rows that the job names. */
#define BIASED_TILE_FUNCTION(name, ROWS, DOT, FINISH) \
  TILE_FUNCTION_OF(name, ROWS, BIASED_START##ROWS, DOT, FINISH, BIASED_BLOCKS##ROWS)
#define TILE_FUNCTION_OF(name, ROWS, START, DOT, FINISH, BLOCKS)                                        \
  static __attribute__((noinline)) void name(struct tvm_pulp_tile_job *job) {                           \
    register struct tvm_pulp_tile_job *a0 __asm__("a0") = job;                                          \
    __asm__ volatile(                                                                                   \
        "lw t0,0(a0)\nlw a1,4(a0)\nlw t1,8(a0)\nli t2,4\nslli a2,t1,1\nadd a2,a2,t1\nsub t2,t2,a2\n"    \
        "li ra,0\n"                                                                                     \
        "7:\nlw a2,16(a0)\nlw a3,12(a0)\nadd a2,a2,ra\n" START                                          \
        XP_BEGIN XP_LOOP("a3") DEPTH##ROWS(DOT) XP_END                                                  \
        "sub t0,t0,t1\n" FINISH                                             \
        "lw a4,48(a0)\naddi ra,ra,16\nbne ra,a4,7b\n" BLOCKS                                            \
        : "+r"(a0)                                                                                      \
        :                                                                                               \
        : "memory", "ra", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", CLOBBER##ROWS);   \
  }

/* What the assembler code reads of neighbouring tiles, of which number `tile` begins with column `first`; of rows; and
 * of constants, which lie there four times where all columns have the same. */
static inline void tvm_pulp_set_tiles(struct tvm_pulp_tiles *tiles, uint32_t tile, uint32_t first, uint32_t count) {
  struct tvm_pulp_tile_job *job = &tiles->job;
  job->b = tiles->weight + 4u * tile * job->stride;
  job->bias = tiles->bias + first;
  if (job->channel_mask) job->mul = tiles->requant->mul + first;
  job->end = 16u * count;
}

static inline void tvm_pulp_set_tile_rows(struct tvm_pulp_tiles *tiles, const int8_t *a, uint8_t *y, uint32_t y_stride) {
  tiles->job.a = a;
  tiles->job.y = y;
  tiles->job.y_stride = y_stride;
}

static inline void tvm_pulp_set_tile_constants(struct tvm_pulp_tiles *tiles, const struct tvm_pulp_requant *requant) {
  const int32_t *mul = requant->mul, *add = requant->add;
  if (!requant->per_channel) {
    const int32_t one_mul = mul[0], one_add = add[0];
    tiles->job.same_mul = one_mul;
    tiles->job.same_add = one_add;
    for (uint32_t i = 0; i < 4u; ++i) {
      tiles->same_mul[i] = one_mul;
      tiles->same_add[i] = one_add;
    }
    mul = tiles->same_mul;
    add = tiles->same_add;
  }
  tiles->job.mul = mul;
  tiles->job.add_less_mul = (uint32_t)(uintptr_t)add - (uint32_t)(uintptr_t)mul - 4u;
}

/* One to three rows: two of them, then one. */
#define FEW_ROWS(TWO, ONE)          \
  do {                              \
    if (rows & 2u) {                \
      TWO;                          \
      job->a += 2u * job->stride;   \
      job->y += 2u * job->y_stride; \
    }                               \
    if (rows & 1u) ONE;             \
  } while (0)

#endif /* TVM_PULP_TILE_CODE_H */
