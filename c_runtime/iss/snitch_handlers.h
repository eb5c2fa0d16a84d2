/* SPDX-License-Identifier: Apache-2.0
 *
 * What handlers_base.h asks of Snitch cores, beside what their interpreters say: MULTIPLY, DIVIDE, and IS_BARRIER(number),
 * whether reading a control and status register waits for all cores. */
#define BRANCH(name, condition)  \
  op_##name : {                  \
    ISSUE();                     \
    h->count.branches++;         \
    now += 1;                    \
    if (condition) {             \
      h->count.taken_branches++; \
      ip += ip->imm;             \
      ENTER_BLOCK(1);            \
    }                            \
    ip += 2;                     \
    ENTER_BLOCK(0);              \
  }

#define CSR(name, writes, new_value)                                       \
  op_##name : {                                                            \
    uint32_t number = (uint32_t)ip->imm, old = 0, field = ip->rs1, source; \
    ISSUE_AND_WRITE();                                                     \
    source = ip->op >= OP_csrrwi ? field : S1;                             \
    if (IS_BARRIER(number)) {                                              \
      IN_TURN();                                                           \
      SAVE();                                                              \
      if (snitch_arrive(h) == ACCESS_SLEEP) goto suspended;                \
      now = h->now;                                                        \
    } else {                                                               \
      csr_read(h, number, now, &old);                                      \
      if (writes) csr_write(h, number, now, (new_value));                  \
    }                                                                      \
    RD = old;                                                              \
    NEXT();                                                                \
  }

#include "handlers_base.h"

op_wfi:
  IN_TURN();
  SAVE();
  if (snitch_wait_for_interrupt(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT();
