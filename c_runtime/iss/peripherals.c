/* SPDX-License-Identifier: Apache-2.0 */
#include "peripherals.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "snitch.h"

static uint8_t *system_memory(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  struct platform *platform = ((struct peripheral *)context)->platform;
  const struct config *config = &platform->config;
  uint64_t offset = address;
  if (port == TVM_PULP_PORT_WEIGHT)
    return offset + bytes <= (uint64_t)config->memory_weight_size ? platform->weight + offset : NULL;
  if (port == TVM_PULP_PORT_L2) {
    offset -= (uint64_t)config->memory_l2_base;
    return address >= (uint64_t)config->memory_l2_base && offset + bytes <= (uint64_t)config->memory_l2_size
               ? platform->l2 + offset : NULL;
  }
  offset &= 0xfffff; /* every alias of L1 differs only above bit 19 */
  if (address - (uint32_t)config->memory_l1_base >= 0x200000 && address >= 0x200000) return NULL;
  return offset + bytes <= (uint64_t)config->memory_l1_size ? platform->l1 + offset : NULL;
}

/* Note the words of L1 that a claim has. */
static void mark_map(struct peripherals *all, const struct claim *claim) {
  if (claim->port != TVM_PULP_PORT_L1) return;
  all->l1_claims++;
  for (uint32_t word = claim->address / 4; word <= (claim->address + claim->bytes - 1) / 4; word++)
    all->l1_map[word] |= claim->is_write ? 2 : 1;
}

/* When the job that claims began: at a core's access, or at the event of the engine that ended the job before it. */
static uint64_t claim_start(const struct platform *platform) {
  const struct hart *hart = platform->running;
  if (platform->peripherals.advancing || !hart) return platform->peripherals.advanced_to;
  return cluster_cycle(hart, hart->now);
}

/* Count a use of memory by an agent that excludes a running job; jobs of one engine never run together. */
static void check_use(struct peripherals *all, int agent, const struct claim *made) {
  char who[80];
  for (uint32_t i = 0; i < all->claim_count; i++) {
    const struct claim *claim = &all->claims[i];
    if (claim->owner == made->owner || claim->port != made->port || !(made->is_write || claim->is_write)) continue;
    if (claim->end <= made->start || made->end <= claim->start) continue;
    if (made->address >= claim->address + claim->bytes || claim->address >= made->address + made->bytes) continue;
    if (all->races++) return;
    if (agent == AGENT_ENGINE) snprintf(who, sizeof who, "a job of %s", all->item[made->owner].model->name);
    else snprintf(who, sizeof who, agent < 0 ? "DMA0" : "core %d", agent);
    snprintf(all->first_race, sizeof all->first_race, "cycle %llu: %s %s %s offset 0x%x while a job of %s %s it",
             (unsigned long long)made->start, who, made->is_write ? "writes" : "reads",
             made->port == TVM_PULP_PORT_L1 ? "L1" : "weight memory", (unsigned)made->address,
             all->item[claim->owner].model->name, claim->is_write ? "writes" : "reads");
    return;
  }
}

/* What a job reads is looked at when it begins, what it writes when it ends. */
static void observe(struct platform *platform, const struct claim *claim, uint64_t cycle) {
  uint32_t base = (uint32_t)(claim->port == TVM_PULP_PORT_L1 ? platform->config.memory_l1_base : platform->config.memory_weight_base);
  if (platform->config.observe)
    agent_access(platform, AGENT_ENGINE, base + claim->address, claim->bytes, claim->is_write, cycle);
}

/* A job that begins in the cycle in which another one ends reads what that one wrote. */
static void observe_read(struct platform *platform, const struct claim *read, uint64_t cycle) {
  const struct peripherals *all = &platform->peripherals;
  if (!platform->config.observe) return;
  for (uint32_t i = 0; i < all->claim_count; i++) {
    if (all->claims[i].is_write && all->claims[i].end <= cycle) observe(platform, &all->claims[i], cycle);
  }
  observe(platform, read, cycle);
}

static void system_claim(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes, int is_write,
                         uint64_t end_cycle) {
  struct peripheral *self = context;
  struct peripherals *all = &self->platform->peripherals;
  struct claim *claim;
  if (!bytes || !system_memory(context, port, address, bytes)) return;
  if (all->claim_count == all->claim_capacity) {
    uint32_t capacity = all->claim_capacity ? 2 * all->claim_capacity : 64;
    struct claim *grown = realloc(all->claims, capacity * sizeof *grown);
    if (!grown) return;
    all->claims = grown;
    all->claim_capacity = capacity;
  }
  claim = &all->claims[all->claim_count++];
  claim->port = port;
  claim->address = port == TVM_PULP_PORT_L1 ? address & 0xfffff : address;
  claim->bytes = bytes;
  claim->is_write = is_write;
  claim->end = end_cycle;
  claim->owner = self->index;
  claim->start = claim_start(self->platform);
  check_use(all, AGENT_ENGINE, claim);
  if (!is_write) observe_read(self->platform, claim, claim->start);
  mark_map(all, claim);
}

/* Forget claims that end until `over`, and all of peripheral `owner`. */
static void forget_claims(struct platform *platform, uint64_t over, uint32_t owner, uint64_t cycle) {
  struct peripherals *all = &platform->peripherals;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < all->claim_count; i++) {
    if (all->claims[i].end > over && all->claims[i].owner != owner) all->claims[kept++] = all->claims[i];
    else if (all->claims[i].is_write) observe(platform, &all->claims[i], cycle);
  }
  if (kept == all->claim_count) return;
  if (all->l1_claims) memset(all->l1_map, 0, (size_t)platform->config.memory_l1_size / 4);
  all->claim_count = kept;
  all->l1_claims = 0;
  for (uint32_t i = 0; i < kept; i++) mark_map(all, &all->claims[i]);
}

void drop_claims(struct platform *platform, uint64_t cycle) { forget_claims(platform, cycle, PERIPHERALS, cycle); }

static void system_release(void *context) {
  struct peripheral *self = context;
  forget_claims(self->platform, 0, self->index, self->platform->peripherals.advanced_to);
}

static uint64_t system_take_banks(void *context, uint32_t address, uint32_t bytes, uint64_t cycle) {
  struct platform *platform = ((struct peripheral *)context)->platform;
  uint32_t mask = (uint32_t)platform->config.memory_l1_banks - 1, last = (address + bytes - 1) / 4;
  uint64_t latest = cycle;
  if (platform->snitch) return snitch_take_banks(platform, address, bytes, cycle);
  for (uint32_t word = address / 4; word <= last; word++) {
    uint64_t *bank = &platform->l1_bank_free[word & mask];
    uint64_t taken = *bank > cycle ? *bank : cycle;
    *bank = taken + 1;
    if (taken > latest) latest = taken;
  }
  platform->peripherals.conflict_cycles += latest - cycle;
  return latest - cycle;
}

/* A job is seen when the statistics count it: at the latest when the simulator advances the model, but mostly when it raises
 * its event, which a register access can bring about too; two jobs between two looks would be one span. */
static void trace_jobs(struct platform *platform, struct peripheral *item, uint64_t cycle) {
  struct tvm_pulp_peripheral_statistics now;
  if (!platform->trace.enabled && !platform->trace.sink) return;
  item->model->statistics(item->self, &now);
  if (now.jobs != item->traced.jobs) {
    uint64_t busy = now.busy_cycles - item->traced.busy_cycles;
    trace_span(&platform->trace, TRACE_PERIPHERAL, item->index, cycle - (busy < cycle ? busy : cycle), cycle,
               now.macs - item->traced.macs);
  }
  item->traced = now;
}

static void system_raise(void *context, uint64_t cycle) {
  struct peripheral *self = context;
  struct peripherals *all = &self->platform->peripherals;
  uint32_t position = all->pending_count;
  trace_jobs(self->platform, self, cycle);
  if (all->pending_count == all->pending_capacity) {
    uint32_t capacity = all->pending_capacity ? 2 * all->pending_capacity : 16;
    struct pending_event *grown = realloc(all->pending, capacity * sizeof *grown);
    if (!grown) return;
    all->pending = grown;
    all->pending_capacity = capacity;
  }
  for (; position && all->pending[position - 1].cycle > cycle; position--) all->pending[position] = all->pending[position - 1];
  all->pending[position].cycle = cycle;
  all->pending[position].owner = self->index;
  all->pending_count++;
}

static void system_fault(void *context, const char *reason) {
  struct peripheral *self = context;
  platform_fault(self->platform, FAULT_PERIPHERAL, self->platform->running, 0, "%s: %s", self->model->name, reason);
}

static int refuse(char *error, size_t bytes, const char *text) {
  snprintf(error, bytes, "%s", text ? text : "unknown reason");
  return -1;
}

static int set_up(struct platform *platform, struct peripheral *item, uint32_t base, uint32_t event_line,
                  int bank_port, const struct tvm_pulp_parameter *parameters, size_t count, char *error,
                  size_t error_bytes) {
  const struct tvm_pulp_peripheral *(*entry)(void);
  void *symbol;
  symbol = dlsym(item->library, "tvm_pulp_peripheral");
  if (!symbol) return refuse(error, error_bytes, "it does not export tvm_pulp_peripheral()");
  memcpy(&entry, &symbol, sizeof entry);
  item->model = entry();
  if (!item->model || item->model->abi != TVM_PULP_PERIPHERAL_ABI)
    return refuse(error, error_bytes, "it was built for another version of tvm_pulp/peripheral.h");
  item->platform = platform;
  item->base = base;
  item->event_line = event_line;
  item->index = platform->peripherals.count;
  item->system.context = item;
  item->system.memory = system_memory;
  item->system.claim = system_claim;
  item->system.release = system_release;
  item->system.take_banks = platform->config.memory_l1_conflicts && bank_port ? system_take_banks : NULL;
  item->system.raise = system_raise;
  item->system.fault = system_fault;
  error[0] = 0;
  item->self = item->model->create(&item->system, parameters, count, error, error_bytes);
  if (!item->self) return error[0] ? -1 : refuse(error, error_bytes, "it refused its parameters");
  return 0;
}

int peripherals_add(struct platform *platform, const char *path, uint32_t base, uint32_t event_line, int bank_port,
                    const struct tvm_pulp_parameter *parameters, size_t count, char *error, size_t error_bytes) {
  struct peripherals *all = &platform->peripherals;
  struct peripheral *item = &all->item[all->count];
  if (all->count == PERIPHERALS) return refuse(error, error_bytes, "more than 8 peripherals");
  memset(item, 0, sizeof *item);
  item->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!item->library) return refuse(error, error_bytes, dlerror());
  if (set_up(platform, item, base, event_line, bank_port, parameters, count, error, error_bytes)) {
    dlclose(item->library);
    return -1;
  }
  all->count++;
  address_map_add(platform, &(struct window){PLACE_ENGINE, VIEW_ALL, base, item->model->register_bytes, NULL, 0}, 1);
  item->model->reset(item->self);
  return 0;
}

void peripherals_destroy(struct platform *platform) {
  struct peripherals *all = &platform->peripherals;
  for (uint32_t i = 0; i < all->count; i++) {
    all->item[i].model->destroy(all->item[i].self);
    dlclose(all->item[i].library);
  }
  free(all->claims);
  free(all->pending);
  free(all->l1_map);
}

struct peripheral *peripheral_at(struct platform *platform, uint32_t address) {
  struct peripherals *all = &platform->peripherals;
  for (uint32_t i = 0; i < all->count; i++)
    if (address - all->item[i].base < all->item[i].model->register_bytes) return &all->item[i];
  return NULL;
}

void peripheral_access(struct peripheral *item, uint32_t address, uint32_t hart, uint64_t cycle, int is_write,
                       uint32_t *value) {
  if (is_write) item->model->write(item->self, address - item->base, *value, hart, cycle);
  else *value = item->model->read(item->self, address - item->base, hart, cycle);
}

uint64_t peripherals_next(const struct platform *platform) {
  const struct peripherals *all = &platform->peripherals;
  uint64_t first = all->pending_count ? all->pending[0].cycle : NEVER;
  for (uint32_t i = 0; i < all->count; i++) {
    uint64_t next = all->item[i].model->next_event(all->item[i].self);
    if (next < first) first = next;
  }
  return first;
}

void peripherals_advance(struct platform *platform, uint64_t cycle) {
  struct peripherals *all = &platform->peripherals;
  all->advancing = 1;
  all->advanced_to = cycle;
  for (uint32_t i = 0; i < all->count; i++) {
    struct peripheral *item = &all->item[i];
    if (item->model->next_event(item->self) > cycle) continue;
    item->model->advance(item->self, cycle);
    trace_jobs(platform, item, cycle);
  }
  all->advancing = 0;
  if (all->claim_count) drop_claims(platform, cycle);
  while (all->pending_count && all->pending[0].cycle <= cycle) {
    struct pending_event event = all->pending[0];
    all->pending_count--;
    memmove(all->pending, all->pending + 1, all->pending_count * sizeof event);
    event_raise(platform, ~0u, all->item[event.owner].event_line, event.cycle);
  }
}

void check_race(struct platform *platform, int agent, uint32_t port, uint32_t offset, uint32_t bytes, int is_write,
                uint64_t cycle) {
  struct peripherals *all = &platform->peripherals;
  if (port == TVM_PULP_PORT_L1) { /* cheap test first */
    uint8_t touched = 0, excluded = is_write ? 3 : 2;
    for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) touched |= all->l1_map[word];
    if (!(touched & excluded)) return;
  }
  check_use(all, agent, &(struct claim){port, offset, bytes, is_write, cycle, NEVER, PERIPHERALS});
}
