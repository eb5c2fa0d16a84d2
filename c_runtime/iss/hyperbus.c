/* SPDX-License-Identifier: Apache-2.0 */
#include "hyperbus.h"

#include <string.h>

#include "memory.h"

/* Word numbers inside a context. */
enum { RX_ADDRESS, RX_SIZE, RX_CONFIG, TX_ADDRESS, TX_SIZE, TX_CONFIG, COMMAND, EXTERNAL_ADDRESS, DEVICE_DATA, STATUS,
       EXTERNAL_2D, EXTERNAL_LINE, EXTERNAL_STRIDE, L2_2D, L2_LINE, L2_STRIDE };
enum { PERIPHERAL = 4, FIRST_CONTEXT = 0x80 + 0x80 * PERIPHERAL, SHARED = FIRST_CONTEXT + 0x100, SHARED_END = SHARED + 0x28,
       CHIP_SELECT = 8, FREE_ID = 9, ENABLE = 1 << 4, REGISTER_SPACE = 2, READ = 4 };

static uint32_t queued(const struct hyperbus *bus, int context) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < bus->count; i++) count += bus->queue[i].context == context;
  return count;
}

static uint64_t soc_to_cluster(const struct platform *platform, uint64_t cycles) {
  uint64_t denominator = (uint64_t)platform->config.soc_clock_denominator;
  return (cycles * (uint64_t)platform->config.soc_clock_numerator + denominator - 1) / denominator;
}

static int start(struct platform *platform, int context, int to_l3, uint64_t cycle) {
  struct hyperbus *bus = &platform->hyperbus;
  const uint32_t *registers = bus->context[context];
  const struct config *config = &platform->config;
  uint64_t millicycles = (uint64_t)(to_l3 ? config->memory_l3_write_millicycles_per_byte : config->memory_l3_read_millicycles_per_byte);
  uint64_t setup = (uint64_t)(to_l3 ? config->memory_l3_write_setup : config->memory_l3_read_setup);
  struct hyperbus_transfer *transfer = &bus->queue[bus->count];
  const char *problem = NULL;
  if (!(bus->clock_enable >> PERIPHERAL & 1)) problem = "HyperBus transfer while its clock (bit 4 of 0x1A102000) is off";
  else if (registers[COMMAND] & REGISTER_SPACE) problem = "HyperBus register-space accesses are not modelled";
  else if (bus->shared[CHIP_SELECT]) problem = "only the HyperRAM (chip select 0) is modelled";
  else if (((registers[COMMAND] & READ) != 0) == to_l3) problem = "HyperBus command setup contradicts the direction";
  else if (bus->count == HYPERBUS_QUEUE) problem = "more than 8 HyperBus transfers queued";
  else if ((registers[EXTERNAL_2D] && !registers[EXTERNAL_LINE]) || (registers[L2_2D] && !registers[L2_LINE]))
    problem = "two-dimensional HyperBus transfer with lines of 0 bytes";
  if (problem) {
    platform_fault(platform, FAULT_PERIPHERAL, platform->running, 0, "%s", problem);
    return ACCESS_STOP;
  }
  transfer->context = context;
  transfer->to_l3 = to_l3;
  transfer->l2_address = registers[to_l3 ? TX_ADDRESS : RX_ADDRESS];
  transfer->bytes = registers[to_l3 ? TX_SIZE : RX_SIZE];
  memcpy(transfer->registers, registers, sizeof transfer->registers);
  if (bus->free_at < cycle) bus->free_at = cycle;
  uint64_t duration = soc_to_cluster(platform, setup + (transfer->bytes * millicycles + 999) / 1000);
  trace_span(&platform->trace, TRACE_L3, (uint32_t)to_l3, bus->free_at, bus->free_at + duration, transfer->bytes);
  bus->busy_cycles += duration;
  bus->free_at += duration;
  transfer->end = bus->free_at;
  bus->count++;
  return ACCESS_OK;
}

int hyperbus_access(struct platform *platform, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  struct hyperbus *bus = &platform->hyperbus;
  if (offset == 0) return register_word(&bus->clock_enable, is_write, value);
  if (offset >= SHARED && offset < SHARED_END) {
    register_word(&bus->shared[(offset - SHARED) / 4], is_write, value);
    if (!is_write && (offset - SHARED) / 4 == FREE_ID) *value = queued(bus, 0) ? 1 : 0;
    return ACCESS_OK;
  }
  if (offset >= FIRST_CONTEXT && offset < SHARED && offset % 0x80 < 0x40) {
    int context = (int)((offset - FIRST_CONTEXT) / 0x80);
    uint32_t number = offset % 0x80 / 4;
    register_word(&bus->context[context][number], is_write, value);
    if (!is_write && number == STATUS) *value = (bus->count ? 1u : 0u) | queued(bus, context) << 1;
    if (is_write && (number == RX_CONFIG || number == TX_CONFIG) && (*value & ENABLE))
      return start(platform, context, number == TX_CONFIG, cycle);
    return ACCESS_OK;
  }
  return ACCESS_NOWHERE;
}

uint64_t hyperbus_next(const struct platform *platform) {
  return platform->hyperbus.count ? platform->hyperbus.queue[0].end : NEVER;
}

/* Where a side goes on, by its registers: two dimensions, line, stride. Ends `bytes` where its line ends. */
static uint32_t position(const uint32_t *side, uint32_t base, uint32_t done, uint32_t *bytes) {
  uint32_t line = side[1];
  if (!side[0]) return base + done;
  if (*bytes > line - done % line) *bytes = line - done % line;
  return base + done / line * side[2] + done % line;
}

static void move(struct platform *platform, const struct hyperbus_transfer *t) {
  for (uint32_t done = 0; done < t->bytes;) {
    uint32_t bytes = t->bytes - done;
    uint32_t l3 = position(t->registers + EXTERNAL_2D, t->registers[EXTERNAL_ADDRESS], done, &bytes);
    uint32_t l2 = position(t->registers + L2_2D, t->l2_address, done, &bytes);
    uint32_t offset, region = region_at(platform, l2, bytes, &offset);
    if (region != REGION_L2 || (uint64_t)l3 + bytes > (uint64_t)platform->config.memory_l3_size) {
      platform_fault(platform, FAULT_ACCESS, NULL, region == REGION_L2 ? l3 : l2, "HyperBus transfer of %u bytes leaves L2 or L3",
                     (unsigned)t->bytes);
      return;
    }
    if (t->to_l3) memcpy(platform->l3 + l3, platform->l2 + offset, bytes);
    else memcpy(platform->l2 + offset, platform->l3 + l3, bytes);
    if (UNLIKELY(platform->config.observe)) agent_access(platform, AGENT_HYPERBUS, l2, bytes, !t->to_l3, t->end);
    done += bytes;
  }
}

void hyperbus_advance(struct platform *platform, uint64_t cycle) {
  struct hyperbus *bus = &platform->hyperbus;
  while (bus->count && bus->queue[0].end <= cycle) {
    struct hyperbus_transfer transfer = bus->queue[0];
    bus->count--;
    memmove(bus->queue, bus->queue + 1, bus->count * sizeof bus->queue[0]);
    move(platform, &transfer);
    bus->transfers++;
    if (transfer.to_l3) bus->bytes_written += transfer.bytes;
    else bus->bytes_read += transfer.bytes;
    raise_soc_event(platform, 4 * PERIPHERAL + (transfer.to_l3 ? 3 : 2));
  }
}
