/* SPDX-License-Identifier: Apache-2.0
 *
 * Xdma. Included inside snitch_execute(). */

/* Only the last core commands the DMA. */
#define DMA_OP(name, ...)                                                         \
  op_##name : {                                                                   \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal; \
    ISSUE();                                                                      \
    __VA_ARGS__;                                                                  \
    NEXT();                                                                       \
  }

  DMA_OP(dmsrc, p->snitch->dma.source = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmdst, p->snitch->dma.target = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmstr, p->snitch->dma.source_stride = S1; p->snitch->dma.target_stride = S2)
  DMA_OP(dmrep, p->snitch->dma.rows = S1)

#define DMA_ANSWER(value_)                                      \
  RD = (value_);                                                \
  EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_offload)

#define DMA_COPY(name, configuration)                                       \
  DMA_OP(name, uint64_t taken; uint32_t id = 0; IN_TURN(); SAVE();          \
         p->running = h;                                                    \
         taken = snitch_dma_start(h, S1, (configuration), now, &id);        \
         if (!taken) goto suspended;                                        \
         update_device_cycle(p);                                            \
         update_limit(p);                                                   \
         limit = p->limit;                                                  \
         STALL_UNTIL(taken, blocked);                                       \
         DMA_ANSWER(id))

  DMA_COPY(dmcpyi, ip->rs2)
  DMA_COPY(dmcpy, S2)

#define DMA_STATUS(name, number) DMA_OP(name, IN_TURN(); DMA_ANSWER(snitch_dma_status(p, (number), now)))

  DMA_STATUS(dmstati, ip->rs2)
  DMA_STATUS(dmstat, S2)
