/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "platform.h"

static void keep(struct trace *trace, const struct trace_span *span) {
  if (trace->count == trace->capacity) {
    uint64_t capacity = trace->capacity ? 2 * trace->capacity : 4096;
    struct trace_span *grown = trace->count < TIMELINE_SPANS ? realloc(trace->spans, capacity * sizeof *grown) : NULL;
    if (!grown) {
      trace->enabled = 0; /* part of it rather than the end of the run */
      trace->outgrown = 1;
      return;
    }
    trace->spans = grown;
    trace->capacity = capacity;
  }
  trace->spans[trace->count++] = *span;
}

void trace_flush(struct trace *trace) {
  if (trace->sink && trace->record_count) trace->sink(trace->records, trace->record_count);
  trace->record_count = 0;
}

static uint64_t *send(struct trace *trace, const struct trace_span *span) {
  struct trace_record *record;
  if (trace->record_count == STREAM_RECORDS) trace_flush(trace);
  record = &trace->records[trace->record_count++];
  record->span = *span;
  memset(record->causes, 0, sizeof record->causes);
  return record->causes;
}

void trace_span(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                uint64_t amount) {
  struct trace_span span = {start, end, (uint32_t)kind, track, amount};
  if (trace->enabled && end > start) keep(trace, &span);
  trace_stream(trace, kind, track, start, end, amount);
}

void trace_stream(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                  uint64_t amount) {
  struct trace_span span = {start, end, (uint32_t)kind, track, amount};
  if (trace->sink && end > start) send(trace, &span);
}

void trace_event(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t cycle, uint64_t amount) {
  struct trace_span span = {cycle, cycle, (uint32_t)kind, track, amount};
  if (trace->sink) send(trace, &span);
}

void trace_core(struct hart *hart, enum trace_kind kind, uint64_t end, uint64_t amount) {
  struct trace *trace = &hart->platform->trace;
  struct trace_span span = {cluster_cycle(hart, hart->sleep_start), cluster_cycle(hart, end), (uint32_t)kind,
                            hart->index, amount};
  if (span.end <= span.start) return;
  if (trace->enabled) keep(trace, &span);
  if (trace->sink) hart_causes(hart, end, send(trace, &span));
}

void trace_destroy(struct trace *trace) {
  free(trace->spans);
  free(trace->records);
}

int iss_stream(struct platform *platform, trace_sink sink) {
  struct trace *trace = &platform->trace;
  if (!trace->records) trace->records = malloc(STREAM_RECORDS * sizeof *trace->records);
  if (!trace->records) return -1;
  trace->sink = sink;
  return 0;
}

void hart_causes(const struct hart *hart, uint64_t now, uint64_t causes[CAUSES]) {
  const struct hart_counters *count = &hart->count;
  const struct config *config = &hart->platform->config;
  uint64_t rest = now - hart->start_cycle;
  causes[CAUSE_load_use] = count->load_use;
  causes[CAUSE_l1_conflict] = count->l1_conflict;
  causes[CAUSE_external_access] =
      count->external_load_cycles + count->external_store_cycles + count->misaligned + count->blocked;
  causes[CAUSE_instruction_cache] = count->icache;
  causes[CAUSE_branch_and_jump] = count->taken_branches * (uint64_t)config->timing_branch_taken_penalty +
                                  count->jumps * (uint64_t)config->timing_jump_penalty + count->jump_register;
  causes[CAUSE_multiply_and_divide] = count->multiply_divide;
  causes[CAUSE_event_wait] = count->event_load + count->asleep;
  for (uint32_t i = CAUSE_issue + 1; i < CAUSES; i++) rest -= causes[i];
  causes[CAUSE_issue] = rest;
}
