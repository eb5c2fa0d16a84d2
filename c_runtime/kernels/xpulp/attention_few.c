/* SPDX-License-Identifier: Apache-2.0
 *
 * A query from beginning to end, written in assembler for its size: where a step has few queries this code is cold, and
 * fetching a line of four instructions takes as long as executing eighteen. The arithmetic is that of attention_four.c.
 *
 *   a0 arguments   a1 query   a2 keys   a3 values   a4 mask   a5 scratch: five words, logits, exponentials
 *   s0 groups of four keys   s1 keys left over */
#include "attention_few.h"

#include <stddef.h>

#include "tvm_pulp/elements.h"
#include "tvm_pulp/xpulp.h"

#define FOUR(OP) OP("t0") OP("t1") OP("t2") OP("t3")

/* Logits. t4 query, t5 stride, t6 multiplier, a6 summand, a7 shift, a1 table, s2 largest, s3 mask's largest, s4
 * result. */
#define KEY(v) XP_LWR(v, "t5", "a2")
#define DOT(v) XP_DOTSP(v, v, "t4")
#define SCALE(v) "mul " v "," v ",t6\n"
#define ADD(v) XP_ADDNR(v, "a6", "a7")
#define CLIP(v) XP_CLIP8(v, v)
#define LOOK(v) XP_LBUX(v, v, "a1")
#define LOAD_MASK XP_LW("t1", 4, "a4")
#define APPLY_MASK \
  XP_MAX4("s3", "s3", "t1") XP_SUB4("t1", "x0", "t1") XP_MINU4("t1", "t1", "t0") XP_SUB4("t0", "t0", "t1")
#define LOGITS(CLIPS, LOAD, APPLY)                                                                       \
  XP_BEGIN XP_LOOP("s0") FOUR(KEY) FOUR(DOT) FOUR(SCALE) FOUR(ADD) CLIPS FOUR(LOOK) XP_PACKLO("t0", "t1", "t0") LOAD \
  XP_PACKHI("t0", "t3", "t2") APPLY XP_MAXU4("s2", "s2", "t0") XP_LOOP_END XP_SW("t0", 4, "s4") XP_END
#define KEYS_OF(args_at) "lw s0," args_at "\nandi s1,s0,3\nsrli s0,s0,2\n"
#define START_LOGITS                                                                                     \
  "lw t4,0(a1)\nlw t5,%[k_stride](a0)\nlw t6,%[mul](a0)\nlw a6,%[add](a0)\nlw a7,%[shift](a0)\n"         \
  "lw t0,%[low](a0)\nlw a1,%[table](a0)\nlw t6,0(t6)\nlw a6,0(a6)\nsub a1,a1,t0\n"                       \
  KEYS_OF("%[keys](a0)") "addi s4,a5,20\nli s2,0\nli s3,0\n"                                             \
  /* What fills up the last word must be some value. */                                                  \
  "slli t0,s0,2\nadd t0,t0,s4\nsw x0,0(t0)\nlw s5,%[covers](a0)\n"
/* The last group reaches back where the keys are not a multiple of four: once more around. */
#define GO_BACK "addi t0,s1,-4\nmul t1,t0,t5\nadd a2,a2,t1\nadd a4,a4,t0\nadd s4,s4,t0\nli s0,1\nli s1,0\nj 10b\n"

/* Exponentials: t4 four logits, t5 table, t6 ones, a1 / a2 / a6 / a7 pick a byte, s2 sum, s3 logits, s4 result. */
#define BYTE(v, pick) XP_DOTUP(v, "t4", pick)
#define EXPONENTIAL(v) XP_LHUX(v, v, "t5")
#define START_EXPONENTIALS                                                                               \
  "srli t0,s2,16\n" XP_MAXU4("s2", "s2", "t0") "lw t5,%[exponential](a0)\nandi t0,s2,255\nsrli s2,s2,8\n" \
  "andi s2,s2,255\n" XP_MAX("t0", "t0", "s2") "slli t0,t0,1\nsub t5,t5,t0\naddi t5,t5,510\n"             \
  "lw s0,%[keys](a0)\nli t6,0x10001\nli a1,2\naddi s0,s0,3\nslli a2,a1,8\nsrli s0,s0,2\nslli a6,a1,16\n" \
  "slli a7,a1,24\naddi s4,a5,20\nslli t0,s0,2\nadd a4,s4,t0\nmv s3,a4\nli s2,0\n"
#define EXPONENTIALS                                                                                     \
  XP_LW("t4", 4, "s4") XP_BEGIN XP_LOOP("s0") BYTE("t0", "a1") BYTE("t1", "a2") BYTE("t2", "a6") BYTE("t3", "a7") \
  XP_LW("t4", 4, "s4") FOUR(EXPONENTIAL) XP_PACK_H("t0", "t1", "t0") XP_PACK_H("t2", "t3", "t2")         \
  XP_SDOTUP2("s2", "t0", "t6") XP_SW("t0", 4, "s3") XP_SDOTUP2("s2", "t2", "t6") XP_LOOP_END XP_SW("t2", 4, "s3") XP_END
/* What fills up the last word does not count. */
#define LESS_THE_REST                                                                                    \
  KEYS_OF("%[keys](a0)") "beqz s1,22f\nli t0,4\n21:\nlhu t1,-2(s3)\naddi t0,t0,-1\naddi s3,s3,-2\nsub s2,s2,t1\n" \
  "bne t0,s1,21b\n22:\n"

/* a6 and a7: lower and upper halves of floor(2^39 * (levels - 1) / sum) + 1. */
#define FACTOR                                                                                           \
  "lw t0,%[levels](a0)\naddi t0,t0,-1\nslli t0,t0,24\ndivu t1,t0,s2\n" XP_MSU("t0", "t1", "s2")           \
  "slli t0,t0,8\ndivu t2,t0,s2\n" XP_MSU("t0", "t2", "s2") "slli t0,t0,7\ndivu t3,t0,s2\nslli t1,t1,8\n"  \
  "add t1,t1,t2\nslli t1,t1,7\nadd t1,t1,t3\naddi t1,t1,1\nsrli t2,t1,16\n"                               \
  XP_PACK_H("a6", "t1", "t1") XP_PACK_H("a7", "t2", "t2")

/* Products: a4 exponentials, a3 values, t6 their stride, a1 probabilities, a2 upper halves, s2-s5 results. */
#define WEIGHT(v) XP_LBUX(v, v, "a1")
#define PRODUCTS(LOOKS, DOT4)                                                                            \
  XP_BEGIN XP_LOOP("s0") XP_LW("t4", 4, "a4") XP_LW("t5", 4, "a4") XP_MULU16("t0", "t4", "a6")                    \
  XP_MULHHU16("t1", "t4", "a6") XP_MULU16("t2", "t5", "a6") XP_MULHHU16("t3", "t5", "a6")                \
  XP_MACU23("t0", "t4", "a7") XP_MACHHU23("t1", "t4", "a7") XP_MACU23("t2", "t5", "a7")                  \
  XP_MACHHU23("t3", "t5", "a7") XP_LWR("t4", "t6", "a3") XP_LWR("t5", "t6", "a3") LOOKS                  \
  XP_PACK_H("t0", "t1", "t0") XP_PACK_H("t2", "t3", "t2") XP_PACK_H("t1", "t5", "t4")                    \
  XP_SHUFFLE2_H("t4", "t5", "a2") "slli t3,t0,8\n" DOT4("s2", "t0", "t1") DOT4("s4", "t0", "t4")         \
  DOT4("s3", "t3", "t1") DOT4("s5", "t3", "t4") XP_LWR("t4", "t6", "a3") XP_LWR("t5", "t6", "a3")        \
  "slli t3,t2,8\n" XP_PACK_H("t1", "t5", "t4") XP_SHUFFLE2_H("t4", "t5", "a2") DOT4("s2", "t2", "t1")    \
  DOT4("s4", "t2", "t4") DOT4("s3", "t3", "t1") XP_LOOP_END DOT4("s5", "t3", "t4") XP_END
#define START_PRODUCTS \
  "li a2,0x30001\nlw a1,%[probability](a0)\nlw t6,%[v_stride](a0)\nli s2,0\nli s3,0\nli s4,0\nli s5,0\n"
/* Values left over, and zeros behind them. */
#define STAGE_VALUES                                                                                     \
  "sw x0,4(a5)\nsw x0,8(a5)\nsw x0,12(a5)\nmv t0,a5\n32:\n" XP_LWR("t1", "t6", "a3") "addi s1,s1,-1\n"    \
  XP_SW("t1", 4, "t0") "bnez s1,32b\nmv a3,a5\nli t6,4\nli s0,1\nj 30b\n"

/* clang-format off */
#define WHOLE_QUERY                                                                                      \
  START_LOGITS                                                                                  \
  "10:\nbeqz a4,13f\nbnez s5,12f\n" LOGITS(FOUR(CLIP), LOAD_MASK, APPLY_MASK) "11:\nbeqz s1,20f\n" GO_BACK \
  "12:\n" LOGITS("", LOAD_MASK, APPLY_MASK) "j 11b\n"                                                     \
  "13:\nbnez s5,14f\n" LOGITS(FOUR(CLIP), "", "") "j 15f\n"                                               \
  "14:\n" LOGITS("", "", "")                                                                             \
  /* Without a mask its pointer stays 0. */                                                              \
  "15:\nbeqz s1,20f\nsub a4,x0,s1\naddi a4,a4,4\n" GO_BACK                                                \
  "20:\nsw s3,16(a5)\n" START_EXPONENTIALS EXPONENTIALS LESS_THE_REST FACTOR START_PRODUCTS \
  "30:\nbeqz a1,33f\n" PRODUCTS(FOUR(WEIGHT), XP_SDOTSP) "31:\nbeqz s1,40f\n" STAGE_VALUES                \
  "33:\n" PRODUCTS("", XP_SDOTUSP) "j 31b\n"                                                              \
  "40:\nlw a0,16(a5)\n"
/* clang-format on */

#define AT(name, member) [name] "i"(offsetof(struct tvm_pulp_attention_args, member))
#define REQUANT_AT(name, member) \
  [name] "i"(offsetof(struct tvm_pulp_attention_args, logit_requant) + offsetof(struct tvm_pulp_requant, member))

static __attribute__((noinline)) void finish_slowly(const struct tvm_pulp_requant *r, uint8_t *y, int32_t a0,
                                                    int32_t a1, int32_t a2, int32_t a3) {
  int32_t acc[4] = {a0, a1, a2, a3};
  for (uint32_t i = 0; i < 4u; ++i) tvm_pulp_finish(r, y, i, acc[i], 0);
}

static TVM_PULP_CLOSE void finish(const struct tvm_pulp_requant *r, uint8_t *y, int32_t a0, int32_t a1, int32_t a2,
                          int32_t a3) {
  if (r->kind != TVM_PULP_REQUANT_PULP_NARROW || r->wide_result) {
    finish_slowly(r, y, a0, a1, a2, a3);
    return;
  }
  int32_t mul = r->mul[0], add = r->add[0], shift = r->shift, low = r->low, high = r->high, a[4] = {a0, a1, a2, a3};
  for (uint32_t i = 0; i < 4u; ++i) a[i] = tvm_pulp_xp_add_shift((int32_t)((uint32_t)a[i] * (uint32_t)mul), add, shift);
  for (uint32_t i = 0; i < 4u; ++i) a[i] = tvm_pulp_xp_min(tvm_pulp_xp_max(a[i], low), high);
  tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, a[1], a[0]), a[3], a[2]));
}

void tvm_pulp_attention_finish(const struct tvm_pulp_requant *r, uint8_t *y, int32_t a0, int32_t a1, int32_t a2,
                               int32_t a3) {
  finish(r, y, a0, a1, a2, a3);
}

TVM_PULP_CLOSE int32_t tvm_pulp_attention_few(const struct tvm_pulp_attention_args *args, uint32_t begin, uint32_t end,
                               uint8_t *scratch) {
  uint32_t head = args->queries == 1u ? begin : begin / args->queries, query = begin - head * args->queries;
  int32_t lift = 0;
  for (; begin < end; ++begin) {
    register const struct tvm_pulp_attention_args *a0 __asm__("a0") = args;
    register const int8_t *a1 __asm__("a1") = args->q + head * args->q_head_stride + query * args->q_stride;
    register const int8_t *a2 __asm__("a2") = args->k + head * args->k_head_stride;
    register const int8_t *a3 __asm__("a3") = args->v + head * args->v_head_stride;
    register const int8_t *a4 __asm__("a4") = args->mask ? args->mask + query * args->mask_stride : 0;
    register uint8_t *a5 __asm__("a5") = scratch;
    register int32_t s2 __asm__("s2"), s3 __asm__("s3"), s4 __asm__("s4"), s5 __asm__("s5");
    __asm__ volatile(WHOLE_QUERY
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "=r"(s2), "=r"(s3), "=r"(s4),
                       "=r"(s5)
                     : AT(k_stride, k_stride), AT(v_stride, v_stride), AT(keys, keys), AT(table, table),
                       AT(covers, table_covers), AT(exponential, small_exponential), AT(probability, probability),
                       AT(levels, levels), REQUANT_AT(mul, mul), REQUANT_AT(add, add), REQUANT_AT(shift, shift),
                       REQUANT_AT(low, low)
                     : "memory", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s0", "s1");
    lift |= (int32_t)(intptr_t)a0;
    finish(&args->requant, (uint8_t *)args->y + head * args->y_head_stride + query * args->y_stride, s2, s3, s4, s5);
    if (++query == args->queries) {
      query = 0;
      ++head;
    }
  }
  return lift;
}
