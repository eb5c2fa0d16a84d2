/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest system a peripheral can live in: two flat memories and a log of what the peripheral asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

struct flat_claim {
  int32_t port, is_write;
  uint32_t address, bytes;
  uint64_t end_cycle;
};

struct flat_system {
  struct tvm_pulp_system interface;
  uint8_t *memory[2];
  uint32_t base[2], bytes[2];
  struct flat_claim *claims;
  size_t claim_count, claim_capacity;
  uint64_t *events;
  size_t event_count, event_capacity;
  /* Cycles by which accesses come late, taken in turn; none: closed formulas. */
  const uint32_t *delays;
  size_t delay_count, delay_next;
  char fault[256];
};

static void *grow(void *array, size_t *capacity, size_t count, size_t element) {
  if (count < *capacity) return array;
  *capacity = *capacity == 0 ? 64 : 2 * *capacity;
  array = realloc(array, *capacity * element);
  if (array == NULL) abort();
  return array;
}

static uint8_t *memory(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  struct flat_system *system = context;
  if (port > TVM_PULP_PORT_WEIGHT) return NULL; /* there is no L2 */
  /* From 0 on is an alias. */
  const uint64_t offset = (uint64_t)address - (address < system->base[port] ? 0u : system->base[port]);
  if (offset + bytes > system->bytes[port]) return NULL;
  return system->memory[port] + offset;
}

static void claim(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes, int is_write,
                  uint64_t end_cycle) {
  struct flat_system *system = context;
  system->claims = grow(system->claims, &system->claim_capacity, system->claim_count, sizeof *system->claims);
  system->claims[system->claim_count++] =
      (struct flat_claim){(int32_t)port, is_write, address, bytes, end_cycle};
}

static void release(void *context) {
  struct flat_system *system = context;
  for (size_t i = 0; i < system->claim_count; i++)
    if (system->claims[i].end_cycle == TVM_PULP_NEVER) system->claims[i].end_cycle = 0;
}

static uint64_t take_banks(void *context, uint32_t address, uint32_t bytes, uint64_t cycle) {
  struct flat_system *system = context;
  (void)address, (void)bytes, (void)cycle;
  return system->delays[system->delay_next++ % system->delay_count];
}

static void raise_event(void *context, uint64_t cycle) {
  struct flat_system *system = context;
  system->events = grow(system->events, &system->event_capacity, system->event_count, sizeof *system->events);
  system->events[system->event_count++] = cycle;
}

static void fault(void *context, const char *reason) {
  struct flat_system *system = context;
  snprintf(system->fault, sizeof system->fault, "%s", reason);
}

struct flat_system *flat_system_create(uint8_t *l1, uint32_t l1_base, uint32_t l1_bytes, uint8_t *weight,
                                       uint32_t weight_bytes, const uint32_t *delays, size_t delay_count);
void flat_system_destroy(struct flat_system *system);

struct flat_system *flat_system_create(uint8_t *l1, uint32_t l1_base, uint32_t l1_bytes, uint8_t *weight,
                                       uint32_t weight_bytes, const uint32_t *delays, size_t delay_count) {
  struct flat_system *system = calloc(1, sizeof *system);
  if (system == NULL) abort();
  system->interface = (struct tvm_pulp_system){
      system, memory, claim, release, delay_count ? take_banks : NULL, raise_event, fault};
  system->delays = delays;
  system->delay_count = delay_count;
  system->memory[TVM_PULP_PORT_L1] = l1;
  system->base[TVM_PULP_PORT_L1] = l1_base;
  system->bytes[TVM_PULP_PORT_L1] = l1_bytes;
  system->memory[TVM_PULP_PORT_WEIGHT] = weight;
  system->bytes[TVM_PULP_PORT_WEIGHT] = weight_bytes;
  return system;
}

void flat_system_destroy(struct flat_system *system) {
  free(system->claims);
  free(system->events);
  free(system);
}
