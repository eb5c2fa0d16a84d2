/* SPDX-License-Identifier: Apache-2.0
 *
 * Cluster DMA ("mchan"): commands of 3 or 5 words, counters, two independent directions.
 *
 * A command travels: words written by a core -> queue of that core (two commands) -> queue of its direction (eight),
 * one command per cycle for all cores -> bursts, one asked for per cycle -> words, each through a port of its direction
 * to its L1 bank. dma.c holds what cores see and the queues, dma_transfer.c what happens to a command in its direction. */
#ifndef ISS_DMA_H
#define ISS_DMA_H

#include <stdint.h>

struct platform;
struct hart;

enum { DMA_PORTS = 17, DMA_COUNTERS = 16, DMA_CORE_QUEUE = 16, DMA_QUEUE = 128, DMA_BURSTS = 8, DMA_WORD_PORTS = 16 };

/* Bits of a command's first word. */
enum { DMA_TO_L1 = 1 << 17, DMA_INCREMENT = 1 << 18, DMA_TWO_D = 1 << 19, DMA_EVENT = 1 << 20, DMA_IRQ = 1 << 21,
       DMA_BROADCAST = 1 << 22, DMA_TWO_D_L1 = 1 << 23, DMA_LENGTH_MASK = 0x1ffff, DMA_L1_MASK = 0xfffff };

struct dma_command {
  uint32_t words[5];
  uint32_t port, counter;
  uint32_t length, line, stride; /* 2D on the external side; line = length for 1D */
  uint32_t requested, moved;     /* bytes */
  uint64_t started;              /* when its first word moved */
};

/* A piece of at most `dma_burst_bytes` that crosses no line. */
struct dma_burst {
  uint8_t *outside;
  uint32_t external, l1, bytes, done;
  uint64_t available; /* first cycle in which its words may move */
};

/* Commands in order of arrival: [first, current) are asked for and still move, `current` is being asked for once
 * `is_current`, the rest waits. All three count up; places are modulo DMA_QUEUE. */
struct dma_direction {
  struct dma_command command[DMA_QUEUE];
  uint32_t first, current, end;
  int is_current;
  struct dma_burst burst[DMA_BURSTS];
  uint32_t burst_first, burst_count;
  uint64_t port_ready[DMA_WORD_PORTS];
  uint64_t next_slot;                  /* without conflicts: first free (cycle, port) as cycle * ports + port */
  uint64_t request_cycle, move_cycle;  /* next time each happens */
};

struct dma_port {
  uint32_t words[5], word_count;
  uint32_t counter; /* allocated last through this port */
  struct dma_command queue[DMA_CORE_QUEUE];
  uint32_t queued;
};

struct dma_counter {
  int allocated;
  uint32_t transfers; /* commands outstanding */
};

struct dma {
  struct dma_port port[DMA_PORTS];
  struct dma_counter counter[DMA_COUNTERS];
  struct dma_direction direction[2]; /* 0: L1 to external, 1: external to L1 */
  uint32_t in_core_queues[2];
  uint32_t turn;        /* port whose queue is looked at first */
  uint64_t drain_cycle; /* next time a command leaves the queue of a core */
  uint32_t blocked;     /* harts stalled on a full queue or for want of a counter */
  uint64_t cycle;       /* next time something happens */
  uint64_t busy_cycles[2], bytes[2], transfers, conflict_cycles;
};

/* dma.c */
void dma_create(struct platform *platform);
int dma_read(struct hart *hart, uint32_t port, uint32_t offset, uint32_t *value);
int dma_write(struct hart *hart, uint32_t port, uint32_t offset, uint64_t cycle, uint32_t value);
void dma_advance(struct platform *platform, uint64_t cycle);
/* Decide when the next command leaves a core's queue, and when the next thing happens at all. */
void dma_schedule(struct platform *platform, uint64_t cycle);
/* What DMAs of all kinds do: tell of a transfer, and move bytes between addresses. */
void dma_count(struct platform *platform, uint32_t direction, uint64_t start, uint64_t end, uint64_t bytes);
void dma_copy(struct platform *platform, uint32_t target, uint32_t source, uint32_t bytes, uint64_t cycle);
/* A command has moved its last byte. */
void dma_finish(struct platform *platform, uint32_t direction, uint64_t cycle);

/* dma_transfer.c */
int dma_is_full(const struct platform *platform, uint32_t direction);
void dma_push(struct platform *platform, const struct dma_command *command, uint64_t cycle);
void dma_request(struct platform *platform, uint32_t direction, uint64_t cycle);
void dma_move(struct platform *platform, uint32_t direction, uint64_t cycle);

#endif /* ISS_DMA_H */
