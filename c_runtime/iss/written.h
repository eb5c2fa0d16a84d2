/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of L1 and L2 were ever written, and who read others. Checked on request, in execute_observed() only. */
#ifndef ISS_WRITTEN_H
#define ISS_WRITTEN_H

#include <stdint.h>

#include "config.h"

struct platform;

enum { UNWRITTEN_KEPT = 256 };

struct unwritten_read {
  uint64_t cycle;
  int32_t agent; /* a hart's index or AGENT_* */
  uint32_t address, bytes, pc;
};

struct written {
  uint8_t *map[REGION_COUNT]; /* 1 per byte that was written; NULL: not checked */
  uint64_t count;                 /* of reads of bytes that were not */
  struct unwritten_read kept[UNWRITTEN_KEPT];
};

int written_create(struct platform *platform);
void written_destroy(struct platform *platform);
/* A read: bytes that nobody wrote are reported, once. */
void written_check(struct platform *platform, int agent, uint32_t region, uint32_t offset, uint32_t bytes,
                   uint64_t cycle);
/* An access of any agent at an address of the SoC; other memories are not checked. */
void written_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write,
                    uint64_t cycle);
void written_mark(struct platform *platform, uint32_t address, uint64_t bytes, int is_written);

#endif /* ISS_WRITTEN_H */
