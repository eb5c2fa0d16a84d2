/* SPDX-License-Identifier: Apache-2.0
 *
 * Xdma. Included inside snitch_execute(). */

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
    EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_offload);                 \
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
    EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_offload);                 \
    NEXT();                                                                       \
  }

  DMA_STATUS(dmstati, ip->rs2)
  DMA_STATUS(dmstat, S2)
