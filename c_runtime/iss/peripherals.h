/* SPDX-License-Identifier: Apache-2.0
 *
 * Accelerators: shared objects behind tvm_pulp/peripheral.h, mapped at an address with an event line. */
#ifndef ISS_PERIPHERALS_H
#define ISS_PERIPHERALS_H

#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/peripheral.h"

struct platform;

enum { PERIPHERALS = 8 };

struct claim {
  uint32_t port, address, bytes;
  int is_write;
  uint64_t start, end;
  uint32_t owner;
};

struct pending_event {
  uint64_t cycle;
  uint32_t owner;
};

struct peripheral {
  struct platform *platform;
  const struct tvm_pulp_peripheral *model;
  void *library, *self;
  struct tvm_pulp_system system;
  uint32_t base, event_line, index;
  struct tvm_pulp_peripheral_statistics traced; /* statistics up to the last traced job */
};

struct peripherals {
  struct peripheral item[PERIPHERALS];
  uint32_t count;
  int advancing;        /* models run by themselves, no core accesses them */
  uint64_t advanced_to; /* the cycle they were last brought to */
  struct claim *claims;
  uint32_t claim_count, claim_capacity;
  uint32_t l1_claims;    /* claims on L1, tested on every L1 access */
  uint8_t *l1_map;       /* per L1 word: 1 read-claimed, 2 write-claimed */
  struct pending_event *pending;
  uint32_t pending_count, pending_capacity;
  uint64_t races, conflict_cycles;
  char first_race[200];
};

/* 0, or -1 with the reason in `error`. With `bank_port` its accesses take part in the conflicts for L1 banks. */
int peripherals_add(struct platform *platform, const char *path, uint32_t base, uint32_t event_line, int bank_port,
                    const struct tvm_pulp_parameter *parameters, size_t count, char *error, size_t error_bytes);
void peripherals_destroy(struct platform *platform);
/* The peripheral mapped at a cluster address, or NULL. */
struct peripheral *peripheral_at(struct platform *platform, uint32_t address);
/* A core's access to a register of it, by its address. */
void peripheral_access(struct peripheral *item, uint32_t address, uint32_t hart, uint64_t cycle, int is_write,
                       uint32_t *value);
uint64_t peripherals_next(const struct platform *platform);
void peripherals_advance(struct platform *platform, uint64_t cycle);
void drop_claims(struct platform *platform, uint64_t cycle); /* of jobs that are over */
/* Count an access of a core, by its index, or of AGENT_DMA that a running job excludes. */
void check_race(struct platform *platform, int agent, uint32_t port, uint32_t offset, uint32_t bytes, int is_write,
                uint64_t cycle);

#endif /* ISS_PERIPHERALS_H */
