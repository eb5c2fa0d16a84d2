/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans for a timeline picture: what each actor did from when to when, in cluster cycles. The timeline collects them in
 * memory; a stream hands them on in batches, so that a run of any length needs the same memory. */
#ifndef ISS_TRACE_H
#define ISS_TRACE_H

#include <stdint.h>

/* Where the cycles of a hart went: causes that add up to all of them. */
#define CAUSES_OF_CYCLES(X)                                                                                   \
  X(issue) X(load_use) X(l1_conflict) X(external_access) X(instruction_cache) X(branch_and_jump)              \
  X(multiply_and_divide) X(event_wait)

enum cause {
#define CAUSE(name) CAUSE_##name,
  CAUSES_OF_CYCLES(CAUSE)
#undef CAUSE
      CAUSES
};

/* Tiles, marks and calls are in the stream only; the last three are moments. */
enum trace_kind { TRACE_CORE_ACTIVE, TRACE_CORE_ASLEEP, TRACE_DMA, TRACE_PERIPHERAL, TRACE_L3, TRACE_TILE, TRACE_MARK,
                  TRACE_ENTER, TRACE_LEAVE };

struct trace_span {
  uint64_t start, end;
  uint32_t kind, track;
  uint64_t amount; /* bytes, what the core waited for, a function, the number of a mark */
};

struct trace_record {
  struct trace_span span;
  uint64_t causes[CAUSES]; /* of a core's spans: all its cycles up to the end, by cause */
};

enum { STREAM_RECORDS = 2048, TIMELINE_SPANS = 1 << 22 };
typedef void (*trace_sink)(const struct trace_record *records, uint32_t count);

struct trace {
  int enabled; /* the timeline */
  int outgrown; /* there is no room for all of it */
  struct trace_span *spans;
  uint64_t count, capacity;
  trace_sink sink; /* the stream's, or NULL */
  struct trace_record *records;
  uint32_t record_count;
};

struct hart;

/* To the timeline and to the stream, to the stream alone. */
void trace_span(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                uint64_t amount);
void trace_stream(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t start, uint64_t end,
                  uint64_t amount);
/* The same for a moment. */
void trace_event(struct trace *trace, enum trace_kind kind, uint32_t track, uint64_t cycle, uint64_t amount);
/* What a hart did until `end`, a cycle of its clock; `sleep_start` holds since when. */
void trace_core(struct hart *hart, enum trace_kind kind, uint64_t end, uint64_t amount);
void trace_flush(struct trace *trace);
void trace_destroy(struct trace *trace);

/* Cycles by cause since the hart started, at a cycle of its clock. */
void hart_causes(const struct hart *hart, uint64_t now, uint64_t causes[CAUSES]);

#endif /* ISS_TRACE_H */
