/* SPDX-License-Identifier: Apache-2.0
 *
 * HyperBus controller of the I/O DMA: the only way to L3. */
#ifndef ISS_HYPERBUS_H
#define ISS_HYPERBUS_H

#include <stdint.h>

struct platform;
struct hart;

enum { HYPERBUS_CONTEXTS = 2, HYPERBUS_QUEUE = 8 };

struct hyperbus_transfer {
  int to_l3, context;
  uint32_t registers[16]; /* of its context when it was started */
  uint32_t l2_address, bytes;
  uint64_t end;
};

struct hyperbus {
  uint32_t clock_enable;
  uint32_t context[HYPERBUS_CONTEXTS][16];
  uint32_t shared[10];
  struct hyperbus_transfer queue[HYPERBUS_QUEUE];
  uint32_t count;
  uint64_t free_at, bytes_read, bytes_written, busy_cycles, transfers;
};

/* Offsets are from the start of the I/O DMA (0x1A10_2000). */
int hyperbus_access(struct platform *platform, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value);
uint64_t hyperbus_next(const struct platform *platform);
void hyperbus_advance(struct platform *platform, uint64_t cycle);

#endif /* ISS_HYPERBUS_H */
