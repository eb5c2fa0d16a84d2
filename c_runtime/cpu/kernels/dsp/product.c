/* SPDX-License-Identifier: Apache-2.0
 *
 * Two pixels times four channels in the fourteen registers that there are: eight sums, two pairs of values, a word of
 * weights, what is widened of it, and two pointers. Compilers keep sums in memory instead, hence assembly.
 *
 *   r0 patch   r1 weight   r2 r3 values   r4-r7 sums of pixel 0   r8-r11 of pixel 1   r12 weights   lr widened
 *
 * A word of weights holds two depths of two channels: bytes 0 and 2 of the first, 1 and 3 of the second; where weights
 * have 16 bits, two depths of a channel, which need no widening. */
#include "product.h"

/* Places of the structure's members, and of what is kept on the stack meanwhile. */
#define PATCH "0"
#define WEIGHT "4"
#define SCALE "8"
#define Y "12"
#define DEPTH "20"
#define BLOCKS "24"
_Static_assert(sizeof(struct tvm_pulp_product) == 28, "members as above");

/* sp: the structure, end of the block's weights, scale, y of both pixels, blocks to go. */
#define ENTER \
  "push {r4-r11, lr}\n\t" \
  "sub sp, #28\n\t" \
  "ldr r1, [r0, #" WEIGHT "]\n\t" \
  "ldr r2, [r0, #" SCALE "]\n\t" \
  "ldrd r3, r4, [r0, #" Y "]\n\t" \
  "ldr r5, [r0, #" BLOCKS "]\n\t" \
  "str r0, [sp]\n\t" \
  "strd r2, r3, [sp, #8]\n\t" \
  "strd r4, r5, [sp, #16]\n\t"
#define LEAVE \
  "add sp, #28\n\t" \
  "pop {r4-r11, pc}\n\t"

/* A block begins: the patch from its start, the end of the weights; depths that are no multiple of eight enter the
 * loop in its middle. */
#define BEGIN_BLOCK(bytes_log2) \
  "ldr lr, [sp]\n\t" \
  "ldr r0, [lr, #" PATCH "]\n\t" \
  "ldr r2, [lr, #" DEPTH "]\n\t" \
  "add r3, r1, r2, lsl #" bytes_log2 "\n\t" \
  "str r3, [sp, #4]\n\t"
#define ENTER_LOOP \
  "lsls r2, r2, #29\n\t" \
  "bne 2f\n\t"
#define END_LOOP \
  "ldr lr, [sp, #4]\n\t" \
  "cmp r1, lr\n\t" \
  "bne 1b\n\t"
/* r1 and lr results, r12 scale; r0, r2, r3 constants. */
#define BEGIN_STORE \
  "ldrd r12, r1, [sp, #8]\n\t" \
  "ldr lr, [sp, #16]\n\t"
#define END_BLOCK \
  "strd r12, r1, [sp, #8]\n\t" \
  "ldr r2, [sp, #20]\n\t" \
  "ldr r1, [sp, #4]\n\t" \
  "str lr, [sp, #16]\n\t" \
  "subs r2, #1\n\t" \
  "str r2, [sp, #20]\n\t" \
  "bne 3b\n\t"

/* Two depths. */
#define CHANNELS(a, b, c, d) \
  "ldr r12, [r1], #4\n\t" \
  "sxtb16 lr, r12\n\t" \
  "smlad " a ", lr, r2, " a "\n\t" \
  "smlad " c ", lr, r3, " c "\n\t" \
  "sxtb16 lr, r12, ror #8\n\t" \
  "smlad " b ", lr, r2, " b "\n\t" \
  "smlad " d ", lr, r3, " d "\n\t"
#define PAIR \
  "ldrd r2, r3, [r0], #8\n\t" CHANNELS("r4", "r5", "r8", "r9") CHANNELS("r6", "r7", "r10", "r11")
#define WIDE_CHANNELS(a, b, c, d) \
  "ldrd r12, lr, [r1], #8\n\t" \
  "smlad " a ", r12, r2, " a "\n\t" \
  "smlad " c ", r12, r3, " c "\n\t" \
  "smlad " b ", lr, r2, " b "\n\t" \
  "smlad " d ", lr, r3, " d "\n\t"
#define WIDE_PAIR \
  "ldrd r2, r3, [r0], #8\n\t" WIDE_CHANNELS("r4", "r5", "r8", "r9") WIDE_CHANNELS("r6", "r7", "r10", "r11")
#define WIDE_LOOP "1:\n\t" WIDE_PAIR WIDE_PAIR "2:\n\t" WIDE_PAIR WIDE_PAIR END_LOOP
#define LOOP "1:\n\t" PAIR PAIR "2:\n\t" PAIR PAIR END_LOOP

#define START \
  "ldr r12, [sp, #8]\n\t" \
  "ldm r12!, {r4-r7}\n\t" \
  "str r12, [sp, #8]\n\t" \
  "mov r8, r4\n\t" \
  "mov r9, r5\n\t" \
  "mov r10, r6\n\t" \
  "mov r11, r7\n\t"

#define S8(r) "ssat " r ", #8, " r ", asr #16\n\t"
#define U8(r) "usat " r ", #8, " r ", asr #16\n\t"
#define U7(r) "usat " r ", #7, " r ", asr #16\n\t"

/* r0 shift, r2 multiply, r3 add. */
#define RESULT(r, y, saturate) \
  "lsl " r ", " r ", r0\n\t" \
  "smmla " r ", " r ", r2, r3\n\t" saturate(r) "strb " r ", [" y "], #1\n\t"
#define STORE(a, b, saturate) "ldm r12!, {r0, r2, r3}\n\t" RESULT(a, "r1", saturate) RESULT(b, "lr", saturate)
#define STORES(saturate) \
  STORE("r4", "r8", saturate) STORE("r5", "r9", saturate) STORE("r6", "r10", saturate) STORE("r7", "r11", saturate)

/* Below zero the last constant is added to the one before. */
#define AWAY(r, y) \
  "ldrd r2, r3, [r12, #8]\n\t" \
  "and r3, r3, " r ", asr #31\n\t" \
  "add r3, r3, r2\n\t" \
  "ldrd r0, r2, [r12]\n\t" RESULT(r, y, S8)
#define STORE_AWAY(a, b) AWAY(a, "r1") AWAY(b, "lr") "add r12, #16\n\t"
#define STORES_AWAY STORE_AWAY("r4", "r8") STORE_AWAY("r5", "r9") STORE_AWAY("r6", "r10") STORE_AWAY("r7", "r11")

#define STORES_SUMS \
  "stm r1!, {r4-r7}\n\t" \
  "stm lr!, {r8-r11}\n\t"

#define PRODUCT(name, bytes_log2, loop, stores) \
  __attribute__((naked)) void name(const struct tvm_pulp_product *product __attribute__((unused))) { \
    __asm__(ENTER "3:\n\t" BEGIN_BLOCK(bytes_log2) START ENTER_LOOP loop BEGIN_STORE stores END_BLOCK LEAVE); \
  }
#define PRODUCTS(kind, bytes_log2, loop) \
  PRODUCT(tvm_pulp_product##kind##s8, bytes_log2, loop, STORES(S8)) \
  PRODUCT(tvm_pulp_product##kind##u8, bytes_log2, loop, STORES(U8)) \
  PRODUCT(tvm_pulp_product##kind##u7, bytes_log2, loop, STORES(U7)) \
  PRODUCT(tvm_pulp_product##kind##s8_away, bytes_log2, loop, STORES_AWAY) \
  PRODUCT(tvm_pulp_product##kind##s32, bytes_log2, loop, STORES_SUMS)

PRODUCTS(_, "2", LOOP)
PRODUCTS(_wide_, "3", WIDE_LOOP)

/* One pixel: four depths at once, weights in r8-r11. */
#define CHANNEL(r, weight, values) \
  "sxtb16 lr, " weight "\n\t" \
  "smlad " r ", lr, " values ", " r "\n\t"
#define ONE_PAIRS \
  "ldrd r2, r3, [r0], #8\n\t" \
  "ldm r1!, {r8-r11}\n\t" CHANNEL("r4", "r8", "r2") CHANNEL("r5", "r8, ror #8", "r2") CHANNEL("r6", "r9", "r2") \
      CHANNEL("r7", "r9, ror #8", "r2") CHANNEL("r4", "r10", "r3") CHANNEL("r5", "r10, ror #8", "r3") \
          CHANNEL("r6", "r11", "r3") CHANNEL("r7", "r11, ror #8", "r3")
#define ONE_LOOP "1:\n\t" ONE_PAIRS "2:\n\t" ONE_PAIRS END_LOOP
#define ONE_STORE(r, saturate) "ldm r12!, {r0, r2, r3}\n\t" RESULT(r, "r1", saturate)
#define ONE_STORES(saturate) \
  ONE_STORE("r4", saturate) ONE_STORE("r5", saturate) ONE_STORE("r6", saturate) ONE_STORE("r7", saturate)
#define ONE_AWAY(r) AWAY(r, "r1") "add r12, #16\n\t"

#define WIDE_DEPTHS(values) \
  "ldm r1!, {r8-r11}\n\t" \
  "smlad r4, r8, " values ", r4\n\t" \
  "smlad r5, r9, " values ", r5\n\t" \
  "smlad r6, r10, " values ", r6\n\t" \
  "smlad r7, r11, " values ", r7\n\t"
#define WIDE_ONE_PAIRS "ldrd r2, r3, [r0], #8\n\t" WIDE_DEPTHS("r2") WIDE_DEPTHS("r3")
#define WIDE_ONE_LOOP "1:\n\t" WIDE_ONE_PAIRS "2:\n\t" WIDE_ONE_PAIRS END_LOOP
#define ONE_PRODUCTS(kind, bytes_log2, loop) \
  PRODUCT(tvm_pulp_product##kind##s8, bytes_log2, loop, ONE_STORES(S8)) \
  PRODUCT(tvm_pulp_product##kind##u8, bytes_log2, loop, ONE_STORES(U8)) \
  PRODUCT(tvm_pulp_product##kind##u7, bytes_log2, loop, ONE_STORES(U7)) \
  PRODUCT(tvm_pulp_product##kind##s8_away, bytes_log2, loop, \
          ONE_AWAY("r4") ONE_AWAY("r5") ONE_AWAY("r6") ONE_AWAY("r7")) \
  PRODUCT(tvm_pulp_product##kind##s32, bytes_log2, loop, "stm r1!, {r4-r7}\n\t")

ONE_PRODUCTS(_one_, "2", ONE_LOOP)
ONE_PRODUCTS(_wide_one_, "3", WIDE_ONE_LOOP)
