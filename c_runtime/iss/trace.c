/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <stdlib.h>

void trace_span(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                uint64_t amount) {
  struct trace_span *span;
  if (!trace->enabled || end <= start) return;
  if (trace->count == trace->capacity) {
    uint64_t capacity = trace->capacity ? 2 * trace->capacity : 4096;
    struct trace_span *grown = realloc(trace->spans, capacity * sizeof *grown);
    if (!grown) {
      trace->enabled = 0; /* keep what fits rather than end the run */
      return;
    }
    trace->spans = grown;
    trace->capacity = capacity;
  }
  span = &trace->spans[trace->count++];
  span->start = start;
  span->end = end;
  span->kind = (uint32_t)kind;
  span->track = track;
  span->amount = amount;
}

void trace_destroy(struct trace *trace) { free(trace->spans); }
