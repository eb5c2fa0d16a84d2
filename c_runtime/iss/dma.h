/* SPDX-License-Identifier: Apache-2.0
 *
 * Cluster DMA ("mchan"): commands of 3 or 5 words, counters, two independent directions. */
#ifndef ISS_DMA_H
#define ISS_DMA_H

#include <stdint.h>

struct platform;
struct hart;

enum { DMA_PORTS = 17, DMA_COUNTERS = 16, DMA_QUEUE = 64 };

struct dma_command {
  uint32_t words[5];
  uint32_t port, counter;
  uint64_t issued;
};

/* The transfer a direction works on. */
struct dma_engine {
  struct dma_command command;
  int active;
  uint32_t done, length;      /* bytes */
  uint32_t granted;           /* words of the current beat that have had their bank */
  uint32_t line, stride;      /* 2D on the external side; line = length for 1D */
  uint64_t cycle;             /* when the next beat moves */
  uint64_t started, free_at;
};

struct dma_port {
  uint32_t words[5], word_count;
  uint32_t counter;  /* allocated last through this port */
  uint32_t queued;   /* commands of this port that have not finished */
};

struct dma_counter {
  int allocated;
  uint32_t transfers; /* commands outstanding */
  uint32_t port, event, irq, broadcast;
};

struct dma {
  struct dma_port port[DMA_PORTS];
  struct dma_counter counter[DMA_COUNTERS];
  struct dma_command queue[2][DMA_QUEUE];
  uint32_t queued[2];
  struct dma_engine engine[2]; /* 0: L1 to external, 1: external to L1 */
  uint32_t blocked;            /* harts stalled on a full queue or for want of a counter */
  uint64_t cycle;              /* next time something happens */
  uint64_t busy_cycles[2], bytes[2], transfers, conflict_cycles;
};

int dma_read(struct hart *hart, uint32_t port, uint32_t offset, uint64_t cycle, uint32_t *value);
int dma_write(struct hart *hart, uint32_t port, uint32_t offset, uint64_t cycle, uint32_t value);
void dma_advance(struct platform *platform, uint64_t cycle);

#endif /* ISS_DMA_H */
