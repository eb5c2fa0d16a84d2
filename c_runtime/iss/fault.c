/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform.h"

void platform_fault(struct platform *platform, enum fault_kind kind, const struct hart *hart, uint32_t address,
                    const char *format, ...) {
  struct iss_fault *fault = &platform->fault;
  va_list arguments;
  if (platform->state == RUN_FAULT) return; /* the first one is the cause */
  platform->state = RUN_FAULT;
  platform->quiet_until = 0; /* the scheduler must look */
  fault->kind = (uint32_t)kind;
  fault->core = hart ? (int32_t)hart->index : -1;
  fault->pc = hart ? hart_pc(hart) : 0;
  fault->word = 0;
  if (hart) platform->end_cycle = cluster_cycle(hart, hart->now);
  if (hart && hart->ip) {
    const struct code_region *region = &platform->region[hart->region];
    uint32_t offset = fault->pc - hart->pc_base, bytes = 4;
    if (offset + 2 == region->bytes) bytes = 2;
    if (offset + bytes <= region->bytes) memcpy(&fault->word, region->memory + offset, bytes);
    if ((fault->word & 3) != 3) fault->word &= 0xffff;
  }
  fault->address = address;
  va_start(arguments, format);
  vsnprintf(fault->text, sizeof fault->text, format, arguments);
  va_end(arguments);
}

static void describe_wait(const struct hart *hart, char *text, size_t bytes) {
  const struct core_events *events = &hart->platform->events.core[hart->index % 16];
  switch (hart->wait.kind) {
    case WAIT_EVENT:
    case WAIT_EVENT_CLEAR: snprintf(text, bytes, "an event in mask 0x%08x", (unsigned)events->mask); break;
    case WAIT_DISPATCH:
      snprintf(text, bytes, "a dispatched word (event 18 %s)",
               events->mask & 1u << EVENT_DISPATCH ? "unmasked" : "is masked: it can never wake");
      break;
    case WAIT_MUTEX:
      snprintf(text, bytes, "mutex %u (event 17 %s)", (unsigned)hart->wait.mutex,
               events->mask & 1u << EVENT_MUTEX ? "unmasked" : "is masked: it can never wake");
      break;
    case WAIT_INTERRUPT: snprintf(text, bytes, "an interrupt"); break;
    case WAIT_BARRIER: snprintf(text, bytes, "the barrier of all cores"); break;
    default: snprintf(text, bytes, "room in a device queue"); break;
  }
}

void report_deadlock(struct platform *platform) {
  char text[sizeof platform->fault.text], wait[80];
  size_t used = 0;
  const struct hart *first = NULL;
  text[0] = 0;
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    const struct hart *hart = &platform->harts[i];
    if (hart->state != HART_ASLEEP && hart->state != HART_BLOCKED) continue;
    if (!first) first = hart;
    if (hart->state == HART_BLOCKED) snprintf(wait, sizeof wait, "room in a device queue");
    else describe_wait(hart, wait, sizeof wait);
    if (used < sizeof text)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u at pc 0x%08x waits for %s", used ? "; " : "",
                               hart->is_controller ? "controller" : "core", (unsigned)hart->index,
                               (unsigned)hart_pc(hart), wait);
  }
  if (!first) snprintf(text, sizeof text, "no core was started");
  platform_fault(platform, FAULT_DEADLOCK, first, 0, "deadlock: %s", text);
}
