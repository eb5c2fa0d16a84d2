/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IMA and Xdma. Included inside snitch_execute(). */

/* One multiplier and one divider for all cores, first come first served; a request waits in a register of its core. */
#define OFFLOAD(unit, expression, distance, occupied)        \
  do {                                                       \
    uint64_t granted;                                        \
    ISSUE();                                                 \
    STALL_UNTIL(c->offload_free, multiply_divide);           \
    IN_TURN();                                               \
    granted = p->snitch->unit > now ? p->snitch->unit : now; \
    p->snitch->unit = granted + (occupied);                  \
    c->offload_free = granted;                               \
    c->multiplications++;                                    \
    RD = (expression);                                       \
    snitch_expect(c, ip->rd, granted + (distance), now);     \
    NEXT();                                                  \
  } while (0)

#define MULTIPLY(name, expression) \
  op_##name:                       \
  OFFLOAD(multiplier_free, expression, (uint64_t)p->config.scoreboard_multiply, 1);

#define DIVIDE(name, magnitude_a, magnitude_b, expression)               \
  op_##name : {                                                          \
    uint32_t a = S1, b = S2;                                             \
    uint64_t steps = divide_steps(magnitude_a, magnitude_b);             \
    OFFLOAD(divider_free, expression, steps, steps > 3 ? steps - 3 : 1); \
  }

#define CSR(name, writes, new_value)                                       \
  op_##name : {                                                            \
    uint32_t number = (uint32_t)ip->imm, old = 0, field = ip->rs1, source; \
    ISSUE_AND_WRITE();                                                     \
    source = ip->op >= OP_csrrwi ? field : S1;                             \
    if (number == SNITCH_BARRIER) {                                        \
      IN_TURN();                                                           \
      SAVE();                                                              \
      if (snitch_arrive(h) == ACCESS_SLEEP) goto suspended;                \
      now = h->now;                                                        \
    } else {                                                               \
      snitch_csr(h, number, now, &old, 0, 0);                              \
      if (writes) snitch_csr(h, number, now, &old, 1, (new_value));        \
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

/* Only the last core commands the DMA. */
#define DMA_OP(name, action)                                                      \
  op_##name : {                                                                   \
    struct snitch_dma *dma = &p->snitch->dma;                                     \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal; \
    ISSUE();                                                                      \
    action;                                                                       \
    NEXT();                                                                       \
  }

  DMA_OP(dmsrc, dma->source = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmdst, dma->target = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmstr, (dma->source_stride = S1, dma->target_stride = S2))
  DMA_OP(dmrep, dma->rows = S1)

#define DMA_COPY(name, configuration)                                             \
  op_##name : {                                                                   \
    uint64_t taken;                                                               \
    uint32_t id = 0;                                                              \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal; \
    ISSUE();                                                                      \
    IN_TURN();                                                                    \
    SAVE();                                                                       \
    p->running = h;                                                               \
    taken = snitch_dma_start(h, S1, (configuration), now, &id);                   \
    if (!taken) goto suspended;                                                   \
    update_device_cycle(p);                                                       \
    update_limit(p);                                                              \
    limit = p->limit;                                                             \
    STALL_UNTIL(taken, blocked);                                                  \
    RD = id;                                                                      \
    snitch_expect(c, ip->rd, now + (uint64_t)p->config.scoreboard_offload, now);  \
    NEXT();                                                                       \
  }

  DMA_COPY(dmcpyi, ip->rs2)
  DMA_COPY(dmcpy, S2)

#define DMA_STATUS(name, number)                                                  \
  op_##name : {                                                                   \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal; \
    ISSUE();                                                                      \
    IN_TURN();                                                                    \
    RD = snitch_dma_status(p, (number), now);                                     \
    snitch_expect(c, ip->rd, now + (uint64_t)p->config.scoreboard_offload, now);  \
    NEXT();                                                                       \
  }

  DMA_STATUS(dmstati, ip->rs2)
  DMA_STATUS(dmstat, S2)
