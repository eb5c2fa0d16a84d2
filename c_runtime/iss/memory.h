/* SPDX-License-Identifier: Apache-2.0
 *
 * The address map as cores see it, for every access that the fast path of execute.c does not take. */
#ifndef ISS_MEMORY_H
#define ISS_MEMORY_H

#include "platform.h"

enum access_status {
  ACCESS_OK,
  ACCESS_SLEEP,   /* the hart waits for an event; the access is replayed and answered when it wakes */
  ACCESS_BLOCKED, /* the device stalls the access; it is replayed when there is room */
  ACCESS_NOWHERE, /* no such register or memory */
  ACCESS_STOP     /* the platform's state changed: fault or end of the program */
};

/* Perform an access of 1, 2 or 4 bytes; adds its cycles to `hart->now`. Loads are zero-extended. */
int memory_load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value);
int memory_store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value);

/* Host pointer to memory at an address as the SoC sees it, or NULL. Used by DMA, loaders and debuggers. */
uint8_t *memory_pointer(struct platform *platform, uint32_t address, uint64_t bytes);

#endif /* ISS_MEMORY_H */
