/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IMA and Xpulpimg, the part of XpulpV2 that these cores have. Included inside pool_execute(). */

/* A unit of the core's own, which takes an instruction per cycle. */
#define MULTIPLY(name, expression)                              \
  op_##name : {                                                 \
    ISSUE();                                                    \
    RD = (expression);                                          \
    EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_multiply); \
    NEXT();                                                     \
  }

/* One division at a time. */
#define DIVIDE(name, magnitude_a, magnitude_b, expression)   \
  op_##name : {                                              \
    uint32_t a, b;                                           \
    uint64_t steps;                                          \
    ISSUE();                                                 \
    STALL_UNTIL(c->offload_free, multiply_divide);           \
    a = S1, b = S2;                                          \
    steps = divide_steps(magnitude_a, magnitude_b);          \
    c->offload_free = now + (steps > 3 ? steps - 3 : 1);     \
    RD = (expression);                                       \
    EXPECT(ip->rd, now + steps);                             \
    NEXT();                                                  \
  }

#define CSR(name, writes, new_value)                                       \
  op_##name : {                                                            \
    uint32_t number = (uint32_t)ip->imm, old = 0, field = ip->rs1, source; \
    ISSUE();                                                               \
    source = ip->op >= OP_csrrwi ? field : S1;                             \
    snitch_csr(h, number, now, &old, 0, 0);                                \
    if (writes) snitch_csr(h, number, now, &old, 1, (new_value));          \
    RD = old;                                                              \
    NEXT();                                                                \
  }

#include "handlers_base.h"

op_wfi:
  IN_TURN();
  SAVE();
  if (pool_wait_for_wake_up(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT();

#define PULP MULTIPLY
#include "handlers_xpulpimg.h"
  MULTIPLY(pv_packhi_b, (S1 & 0xffff0000u) | S2 >> 16) /* the decoder's name for upper halves here */
