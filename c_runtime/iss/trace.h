/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans for a timeline picture: what each actor did from when to when, in cluster cycles. */
#ifndef ISS_TRACE_H
#define ISS_TRACE_H

#include <stdint.h>

enum trace_kind { TRACE_CORE_ACTIVE, TRACE_CORE_ASLEEP, TRACE_DMA, TRACE_PERIPHERAL, TRACE_L3 };

struct trace_span {
  uint64_t start, end;
  uint32_t kind, track;
  uint64_t amount; /* bytes, or what the core waited for */
};

struct trace {
  int enabled;
  struct trace_span *spans;
  uint64_t count, capacity;
};

void trace_span(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                uint64_t amount);
void trace_destroy(struct trace *trace);

#endif /* ISS_TRACE_H */
