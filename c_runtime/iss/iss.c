/* SPDX-License-Identifier: Apache-2.0 */
#include "iss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_arithmetic.h"
#include "memory.h"
#include "pool.h"
#include "scheduler.h"
#include "snitch.h"

/* No run is longer: leaves room for sums of times. */
#define MOST_CYCLES (UINT64_MAX >> 8)

uint32_t iss_version(void) { return 3; }

static void set_up_hart(struct platform *platform, uint32_t index) {
  const struct config *config = &platform->config;
  struct hart *hart = &platform->harts[index];
  hart->platform = platform;
  hart->index = index;
  hart->bit = 1ull << (index % 64);
  if (platform->snitch) hart->snitch_core = &platform->snitch->core[index];
  hart->is_controller = !platform->snitch && index == (uint32_t)config->cluster_cores;
  hart->hart_id = hart->is_controller ? (uint32_t)config->controller_hart_id : index;
  hart->has_own_clock = hart->is_controller && config->soc_clock_numerator != config->soc_clock_denominator;
  hart->has_float = (hart->is_controller ? config->controller_isa_single_float : config->cluster_isa_single_float) != 0;
  hart->taken_cost = (uint32_t)(1 + config->timing_branch_taken_penalty);
  hart->jump_cost = (uint32_t)(1 + config->timing_jump_penalty);
  hart->loop[0].warm_epoch = hart->loop[1].warm_epoch = NEVER;
  if (hart->is_controller) {
    hart->fast_memory = platform->l2;
    hart->written = platform->written.map[REGION_L2];
    hart->fast_base = (uint32_t)config->memory_l2_base;
    hart->fast_words = config->memory_l2_controller_latency == 1 ? (uint32_t)config->memory_l2_size / 4 : 0;
  } else {
    hart->fast_memory = platform->l1;
    hart->written = platform->written.map[REGION_L1];
    hart->fast_base = (uint32_t)config->memory_l1_base; /* the alias at 0 takes the general path */
    hart->fast_words = (uint32_t)config->memory_l1_size / 4;
    hart->bank_free = config->memory_l1_conflicts ? platform->l1_bank_free : NULL;
    hart->bank_mask = (uint32_t)config->memory_l1_banks - 1;
    hart->slack = platform->snitch ? 0 : (uint64_t)config->timing_ordering_slack;
    if (config->cluster_float_units) hart->float_unit = &platform->float_unit_free[index % (uint32_t)config->cluster_float_units];
    if (config->cluster_float_dividers)
      hart->float_divider = &platform->float_divider_free[index % (uint32_t)config->cluster_float_dividers];
  }
}

static int allocate(struct platform *platform) {
  const struct config *config = &platform->config;
  platform->hart_count = (uint32_t)config->cluster_cores + !config->core_is_pool;
  platform->l1 = calloc(1, (size_t)config->memory_l1_size);
  platform->l2 = calloc(1, (size_t)config->memory_l2_size);
  platform->weight = calloc(1, (size_t)config->memory_weight_size + 1);
  platform->l3 = calloc(1, (size_t)config->memory_l3_size + 1);
  platform->harts = calloc(platform->hart_count, sizeof(struct hart));
  platform->peripherals.l1_map = calloc(1, (size_t)config->memory_l1_size / 4 + 1);
  if (!platform->l1 || !platform->l2 || !platform->weight || !platform->l3 || !platform->harts ||
      !platform->peripherals.l1_map)
    return -1;
  platform->region[REGION_L1].memory = platform->l1;
  platform->region[REGION_L1].base = (uint32_t)config->memory_l1_base;
  platform->region[REGION_L1].bytes = (uint32_t)config->memory_l1_size;
  platform->region[REGION_L2].memory = platform->l2;
  platform->region[REGION_L2].base = (uint32_t)config->memory_l2_base;
  platform->region[REGION_L2].bytes = (uint32_t)config->memory_l2_size;
  for (uint32_t r = 0; r < REGION_COUNT; r++) {
    struct code_region *region = &platform->region[r];
    /* Only the pages that hold executed code are ever touched. */
    region->slots = calloc(region->bytes / 2 + 8, sizeof(struct slot));
    region->low = region->bytes / 2;
    if (!region->slots) return -1;
  }
  return observer_create(platform) || written_create(platform) ? -1 : 0;
}

struct platform *iss_create(const char *const *names, const int64_t *values, size_t count, char *error,
                            size_t error_bytes) {
  struct platform *platform = calloc(1, sizeof *platform);
  if (!platform) return NULL;
  if (config_read(&platform->config, names, values, count, error, error_bytes)) {
    free(platform);
    return NULL;
  }
  platform->run = platform->config.observe ? execute_observed : execute;
  platform->line_slots = LINE_SLOTS;
  if (allocate(platform) || (platform->config.core_is_snitch && snitch_create(platform))) {
    snprintf(error, error_bytes, "out of memory");
    iss_destroy(platform);
    return NULL;
  }
  platform->run(platform); /* publishes the handlers */
  address_map_create(platform);
  for (uint32_t i = 0; i < platform->hart_count; i++) set_up_hart(platform, i);
  if (!platform->snitch) dma_create(platform);
  platform->controller_cache_enabled = platform->config.icache_controller_enabled != 0;
  caches_create(platform);
  platform->wheel_base = 1; /* cycle 0 means "before the run" to the scheduler */
  platform->far_cycle = NEVER;
  platform->words = (platform->hart_count + 63) / 64;
  while (platform->config.timing_rotating_priority && platform->rotation_mask < 63 &&
         platform->rotation_mask + 1 < (uint32_t)platform->config.cluster_cores)
    platform->rotation_mask = 2 * platform->rotation_mask + 1;
  platform->timers[0].is_cluster = 1;
  platform->timers[1].first_interrupt = 10;
  platform->timers[2].first_interrupt = 12;
  platform->trace.enabled = platform->config.trace != 0;
  platform->max_cycle = MOST_CYCLES;
  update_device_cycle(platform);
  return platform;
}

void iss_destroy(struct platform *platform) {
  if (!platform) return;
  peripherals_destroy(platform);
  if (platform->harts) caches_destroy(platform);
  trace_destroy(&platform->trace);
  calls_destroy(&platform->calls);
  observer_destroy(platform);
  written_destroy(platform);
  output_destroy(&platform->output);
  for (uint32_t r = 0; r < REGION_COUNT; r++) free(platform->region[r].slots);
  free(platform->snitch);
  pool_destroy(platform);
  free(platform->harts);
  free(platform->l1);
  free(platform->l2);
  free(platform->weight);
  free(platform->l3);
  free(platform);
}

int iss_read(struct platform *platform, uint32_t address, uint8_t *data, uint64_t bytes) {
  const uint8_t *memory = memory_at(platform, address, bytes, 0);
  if (!memory) return -1;
  memcpy(data, memory, bytes);
  return 0;
}

/* Whether code was decoded from bytes at a host address. */
static int is_decoded(const struct platform *platform, const uint8_t *memory, uint64_t bytes) {
  for (uint32_t r = 0; r < REGION_COUNT; r++) {
    const struct code_region *region = &platform->region[r];
    if (memory < region->memory || memory >= region->memory + region->bytes) continue;
    return memory < region->memory + 2 * (size_t)region->high && memory + bytes > region->memory + 2 * (size_t)region->low;
  }
  return 0;
}

int iss_write(struct platform *platform, uint32_t address, const uint8_t *data, uint64_t bytes) {
  uint8_t *memory = memory_at(platform, address, bytes, 1);
  if (!memory) return -1;
  memcpy(memory, data, bytes);
  written_mark(platform, address, bytes, 1);
  if (is_decoded(platform, memory, bytes)) reset_slots(platform);
  return 0;
}

int iss_l3(struct platform *platform, uint32_t offset, uint8_t *data, uint64_t bytes, int is_write) {
  if (offset + bytes > (uint64_t)platform->config.memory_l3_size) return -1;
  if (is_write) memcpy(platform->l3 + offset, data, bytes);
  else memcpy(data, platform->l3 + offset, bytes);
  return 0;
}

int iss_add_peripheral(struct platform *platform, const char *path, uint32_t base, uint32_t event_line,
                       int bank_port, const char *const *names, const int64_t *values, size_t count, char *error,
                       size_t error_bytes) {
  struct tvm_pulp_parameter *parameters = calloc(count + 1, sizeof *parameters);
  int status;
  if (!parameters) return -1;
  for (size_t i = 0; i < count; i++) {
    parameters[i].name = names[i];
    parameters[i].value = values[i];
  }
  status = peripherals_add(platform, path, base, event_line, bank_port, parameters, count, error, error_bytes);
  free(parameters);
  return status;
}

int iss_set_host_words(struct platform *platform, uint32_t tohost, uint32_t fromhost) {
  if (!platform->snitch) return -1;
  platform->snitch->tohost = tohost;
  platform->snitch->fromhost = fromhost;
  return 0;
}

int iss_start(struct platform *platform, uint32_t core, uint32_t pc) {
  uint64_t boot = platform->snitch ? (uint64_t)platform->config.scoreboard_boot : 0;
  if (core >= platform->hart_count || platform->harts[core].state != HART_OFF) return -1;
  if (platform->snitch) platform->harts[core].x[10] = platform->harts[core].hart_id; /* by the boot code */
  platform_start_hart(platform, &platform->harts[core], pc, platform->wheel_base + boot);
  return platform->state == RUN_FAULT ? -1 : 0;
}

uint32_t iss_get_register(struct platform *platform, uint32_t core, uint32_t number) {
  struct hart *hart = &platform->harts[core];
  uint32_t value = 0;
  if (number < 32) return hart->x[number];
  if (number < 64) return hart->f[number - 32];
  if (number == ISS_REGISTER_PC) return hart_pc(hart);
  if (number >= ISS_REGISTER_CSR && csr_read(hart, number - ISS_REGISTER_CSR, hart->now, &value)) return 0;
  return value;
}

int iss_set_register(struct platform *platform, uint32_t core, uint32_t number, uint32_t value) {
  struct hart *hart = &platform->harts[core];
  if (number == 0) return value ? -1 : 0;
  if (number < 32) hart->x[number] = value;
  else if (number < 64) hart->f[number - 32] = value;
  else if (number >= ISS_REGISTER_CSR) return csr_write(hart, number - ISS_REGISTER_CSR, hart->now, value);
  else if (number != ISS_REGISTER_PC || !platform_enter(hart, value)) return -1;
  else hart->resume = hart->ip->handler;
  return 0;
}

/* Cycles until the end of the run that a hart still sleeps. */
static uint64_t last_sleep(const struct hart *hart) {
  uint64_t last = local_cycle(hart, last_cycle(hart->platform));
  if (hart->state != HART_ASLEEP && hart->state != HART_BLOCKED) return 0;
  return last > hart->sleep_start ? last - hart->sleep_start : 0;
}

/* Account for what was under way when the run ended. */
static void settle(struct platform *platform) {
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    struct hart *hart = &platform->harts[i];
    uint64_t asleep = last_sleep(hart), end = asleep ? hart->sleep_start + asleep : hart->now;
    if (hart->state == HART_OFF) continue;
    hart->count.asleep += asleep;
    trace_core(hart, asleep ? TRACE_CORE_ASLEEP : TRACE_CORE_ACTIVE, end, asleep ? (uint64_t)hart->wait.kind : 0);
    if (platform->calls.harts) calls_settle(hart, end);
    hart->count.asleep -= asleep;
  }
  trace_flush(&platform->trace);
}

int iss_run(struct platform *platform, uint64_t max_cycle) {
  uint64_t most = MOST_CYCLES;
  if (platform->state != RUN_GOING) return platform->state == RUN_EXIT ? ISS_ENDED : ISS_FAULTED;
  platform->max_cycle = max_cycle && max_cycle < most ? max_cycle : most;
  update_quiet(platform);
  platform->observer.reason = STOP_NONE;
  platform->run(platform);
  float_collect_flags(&platform->harts[0]);
  output_flush(&platform->output);
  if (platform->state == RUN_GOING) {
    trace_flush(&platform->trace);
    return ISS_STOPPED;
  }
  settle(platform);
  return platform->state == RUN_EXIT ? ISS_ENDED : ISS_FAULTED;
}

uint32_t iss_exit_code(const struct platform *platform) { return platform->exit_code; }

uint64_t iss_cycles(const struct platform *platform) { return last_cycle(platform); }

void iss_fault(const struct platform *platform, struct iss_fault *fault) {
  *fault = platform->fault;
}

size_t iss_output(const struct platform *platform, const char **text) {
  *text = platform->output.text;
  return platform->output.bytes;
}

static const char *const core_counters[] = {
    "cycles", "instructions", "active_cycles", "branch_penalty", "jump_penalty",
#define HART_COUNTER(name) #name,
    HART_COUNTERS(HART_COUNTER)
#undef HART_COUNTER
        NULL};

const char *iss_core_counter_name(uint32_t number) { return core_counters[number]; }

void iss_core_counters(const struct platform *platform, uint32_t core, uint64_t *values) {
  const struct hart *hart = &platform->harts[core];
  uint64_t end = hart->now;
  uint64_t asleep = last_sleep(hart); /* a core that still sleeps has slept until the end of the run */
  struct hart_counters count = hart->count;
  count.asleep += asleep;
  *values++ = hart->state == HART_OFF ? 0 : end + asleep - hart->start_cycle;
  *values++ = hart->state == HART_OFF ? 0 : instructions_retired(hart, hart->now);
  *values++ = active_cycles(hart, hart->now);
  *values++ = hart->count.taken_branches * (uint64_t)platform->config.timing_branch_taken_penalty;
  *values++ = hart->count.jumps * (uint64_t)platform->config.timing_jump_penalty;
#define HART_COUNTER(name) *values++ = count.name;
  HART_COUNTERS(HART_COUNTER)
#undef HART_COUNTER
}

static const char *const system_counters[] = {"dma_transfers",    "dma_bytes_out",  "dma_bytes_in",
                                              "dma_busy_out",     "dma_busy_in",    "dma_conflict_cycles",
                                              "l3_transfers",     "l3_bytes_read",  "l3_bytes_written",
                                              "l3_busy_cycles",   "races",          "engine_conflict_cycles",
                                              NULL};

const char *iss_system_counter_name(uint32_t number) { return system_counters[number]; }

void iss_system_counters(const struct platform *platform, uint64_t *values) {
  const struct dma *dma = &platform->dma;
  const struct hyperbus *bus = &platform->hyperbus;
  const uint64_t all[] = {dma->transfers,      dma->bytes[0],      dma->bytes[1],     dma->busy_cycles[0],
                          dma->busy_cycles[1], dma->conflict_cycles, bus->transfers, bus->bytes_read,
                          bus->bytes_written,  bus->busy_cycles,   platform->peripherals.races,
                          platform->peripherals.conflict_cycles};
  memcpy(values, all, sizeof all);
}

uint32_t iss_peripheral_count(const struct platform *platform) { return platform->peripherals.count; }

const char *iss_peripheral(const struct platform *platform, uint32_t number,
                           struct tvm_pulp_peripheral_statistics *statistics) {
  const struct peripheral *item = &platform->peripherals.item[number];
  item->model->statistics(item->self, statistics);
  return item->model->name;
}

const char *iss_first_race(const struct platform *platform) { return platform->peripherals.first_race; }

uint64_t iss_trace(const struct platform *platform, const struct trace_span **spans) {
  *spans = platform->trace.spans;
  return platform->trace.count;
}

int iss_trace_is_complete(const struct platform *platform) { return !platform->trace.outgrown; }
