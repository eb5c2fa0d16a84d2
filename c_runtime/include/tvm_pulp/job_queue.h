/* SPDX-License-Identifier: Apache-2.0
 *
 * The front end of engines that hold a queue of jobs: control registers, job words per context, tickets, the event line,
 * faults, statistics. A model describes its engine by `struct job_queue_rules` and gets the functions of peripheral.h.
 * Everything is static, so that models in one process share nothing.
 *
 *   0x00 TRIGGER         commits the programmed context; 0 also starts the queue
 *   0x04 ACQUIRE         a ticket and the lock; -1 where all contexts are busy, -2 where somebody holds the lock
 *   0x08 FINISHED        jobs finished since the last reading, two at the most
 *   0x0C STATUS          a byte per context, busy from a TRIGGER of 0 on
 *   0x10 RUNNING         number of finished jobs, as many bits as a ticket has
 *   0x14 SOFT_CLEAR      aborts and empties the queue
 *   0x1C SOFTWARE_EVENT  where the engine has it: pulses the event line
 *   0x20 job words, of the programmed context
 *
 * A commit-only write (TRIGGER != 0) waits for the next write of 0 unless the engine is busy, or was ever started where
 * that counts until SOFT_CLEAR (`stays_triggered`). */
#ifndef TVM_PULP_JOB_QUEUE_H
#define TVM_PULP_JOB_QUEUE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

enum { JOB_QUEUE_CONTEXTS = 4, JOB_QUEUE_WORDS = 32 }; /* the most that there can be */

enum job_queue_register {
  JOB_QUEUE_TRIGGER = 0x00,
  JOB_QUEUE_ACQUIRE = 0x04,
  JOB_QUEUE_FINISHED = 0x08,
  JOB_QUEUE_STATUS = 0x0C,
  JOB_QUEUE_RUNNING = 0x10,
  JOB_QUEUE_SOFT_CLEAR = 0x14,
  JOB_QUEUE_SOFTWARE_EVENT = 0x1C,
  JOB_QUEUE_FIRST_WORD = 0x20,
};

#define JOB_QUEUE_ALL_BUSY 0xFFFFFFFFu
#define JOB_QUEUE_LOCKED 0xFFFFFFFEu

/* An engine as data. The functions get the model, whose first member is its `struct job_queue`. */
struct job_queue_rules {
  const char *name;        /* in sentences */
  uint32_t job_words;      /* registers of one job */
  uint32_t ticket_bits;    /* tickets and finished jobs count modulo 2 to this */
  uint32_t trigger_cycles; /* between TRIGGER and the start of a job that finds the engine idle */
  uint32_t gap_cycles;     /* between the end of a job and the start of one that waits */
  uint32_t window_stride;  /* context i can also be read at (i + 1) times this; 0: no such windows */
  uint32_t ignored_words;  /* behind the job words: writes that nothing comes of */
  uint32_t trigger_answer; /* reading the write-only TRIGGER */
  bool has_software_event;
  bool clear_keeps_counts; /* SOFT_CLEAR of another value than 0 leaves tickets, STATUS and FINISHED alone */
  bool stays_triggered;    /* once started, an idle engine also starts what is only committed, until SOFT_CLEAR */

  /* Decode and claim a job; false after a fault. Sets `job_end`, or leaves it TVM_PULP_NEVER and sets `next_access`. */
  bool (*start)(void *self, const uint32_t *words, uint64_t cycle);
  /* Where the end is not known ahead: the access at `next_access`, which moves on; true when it is the end. */
  bool (*step)(void *self);
  /* Compute, and count what was computed; false after a fault. */
  bool (*finish)(void *self);
  /* A job is dropped in its middle; may be NULL. */
  void (*abort)(void *self);
};

struct job_queue {
  struct tvm_pulp_system system;
  const struct job_queue_rules *rules;
  uint32_t contexts; /* jobs that the queue holds */

  uint32_t words[JOB_QUEUE_CONTEXTS][JOB_QUEUE_WORDS];
  bool is_busy[JOB_QUEUE_CONTEXTS];
  uint32_t programmed, running_context, pending;
  bool is_locked, is_triggered, is_running, has_faulted;
  uint32_t next_ticket, finished_jobs, finished_unread;

  uint64_t job_start, job_end, next_access;
  struct tvm_pulp_peripheral_statistics statistics;
};

/* Stop the simulation with one sentence; the engine does nothing more until reset. */
__attribute__((format(printf, 2, 3))) static inline void job_queue_fault(struct job_queue *queue, const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  queue->has_faulted = true;
  queue->is_running = false;
  queue->system.fault(queue->system.context, reason);
}

/* In a function that is false after a fault. */
#define JOB_QUEUE_REFUSE(queue, ...)     \
  do {                                   \
    job_queue_fault(queue, __VA_ARGS__); \
    return false;                        \
  } while (0)

/* Claim a range of an operand; false after a fault. */
static inline bool job_queue_claim(struct job_queue *queue, const char *operand, enum tvm_pulp_port port, uint32_t start,
                                   uint32_t bytes, bool is_write) {
  struct tvm_pulp_system *system = &queue->system;
  if (system->memory(system->context, port, start, bytes) == NULL) {
    job_queue_fault(queue, "%s %s range 0x%08x with %u bytes is outside %s", queue->rules->name, operand, start, bytes,
                    port == TVM_PULP_PORT_L1 ? "L1" : "the weight memory");
    return false;
  }
  system->claim(system->context, port, start, bytes, is_write, queue->job_end);
  return true;
}

/* Before its ranges are claimed: without contention a job that goes by `step` is over at a time that is known at once. */
static inline void job_queue_find_end(struct job_queue *queue) {
  if (queue->system.take_banks != NULL) return;
  while (!queue->rules->step(queue)) {
  }
  queue->job_end = queue->next_access;
}

static inline void job_queue_empty(struct job_queue *queue) {
  queue->programmed = queue->running_context = queue->pending = 0;
  queue->is_locked = queue->is_triggered = queue->is_running = false;
}

static inline void job_queue_forget_counts(struct job_queue *queue) {
  memset(queue->is_busy, 0, sizeof queue->is_busy);
  queue->next_ticket = queue->finished_jobs = queue->finished_unread = 0;
}

static inline void job_queue_reset(void *self) {
  struct job_queue *queue = self;
  *queue = (struct job_queue){.system = queue->system, .rules = queue->rules, .contexts = queue->contexts};
}

/* A model of so many bytes that begins with its queue; NULL with a sentence in `error`. */
static inline void *job_queue_create(size_t bytes, const struct tvm_pulp_system *system, const struct job_queue_rules *rules,
                                     uint32_t contexts, const char *engine, char *error, size_t error_bytes) {
  struct job_queue *queue = calloc(1, bytes);
  if (queue == NULL) snprintf(error, error_bytes, "no memory left for the %s model", engine);
  else *queue = (struct job_queue){.system = *system, .rules = rules, .contexts = contexts};
  return queue;
}

static inline uint32_t job_queue_counted(const struct job_queue *queue, uint32_t number) {
  return number & ((1u << queue->rules->ticket_bits) - 1u);
}

static inline uint32_t job_queue_context_after(const struct job_queue *queue, uint32_t context) {
  return context + 1 == queue->contexts ? 0 : context + 1;
}

/* Start the oldest committed job. */
static inline void job_queue_start(struct job_queue *queue, uint64_t cycle) {
  queue->job_start = cycle;
  queue->job_end = TVM_PULP_NEVER;
  if (queue->rules->start(queue, queue->words[queue->running_context], cycle)) queue->is_running = true;
}

static inline void job_queue_finish(struct job_queue *queue) {
  if (!queue->rules->finish(queue)) return;
  if (queue->system.take_banks != NULL) queue->system.release(queue->system.context);
  queue->statistics.jobs++;
  queue->statistics.busy_cycles += queue->job_end - queue->job_start;
  queue->is_running = false;
  queue->is_busy[queue->running_context] = false;
  queue->running_context = job_queue_context_after(queue, queue->running_context);
  queue->pending--;
  queue->finished_jobs++;
  if (queue->finished_unread < 2) queue->finished_unread++;
  queue->system.raise(queue->system.context, queue->job_end);
  if (queue->pending > 0) job_queue_start(queue, queue->job_end + queue->rules->gap_cycles);
  else queue->is_triggered = queue->rules->stays_triggered;
}

static inline void job_queue_advance(void *self, uint64_t cycle) {
  struct job_queue *queue = self;
  while (queue->is_running) {
    if (queue->job_end == TVM_PULP_NEVER) {
      if (queue->next_access > cycle) return;
      if (queue->rules->step(queue)) queue->job_end = queue->next_access;
    } else {
      if (queue->job_end > cycle) return;
      job_queue_finish(queue);
    }
  }
}

static inline uint64_t job_queue_next_event(void *self) {
  const struct job_queue *queue = self;
  if (!queue->is_running) return TVM_PULP_NEVER;
  return queue->job_end == TVM_PULP_NEVER ? queue->next_access : queue->job_end;
}

static inline uint32_t job_queue_acquire(struct job_queue *queue) {
  if (queue->is_locked) return JOB_QUEUE_LOCKED;
  if (queue->pending == queue->contexts) return JOB_QUEUE_ALL_BUSY;
  queue->is_locked = true;
  return job_queue_counted(queue, queue->next_ticket++);
}

static inline void job_queue_commit(struct job_queue *queue, uint32_t value, uint64_t cycle) {
  if (queue->pending == queue->contexts) {
    job_queue_fault(queue, "%s was triggered while %s of its job contexts are busy; ACQUIRE a context first",
                    queue->rules->name, queue->contexts == 2 ? "both" : "all");
    return;
  }
  queue->is_locked = false;
  if (value == 0) queue->is_busy[queue->programmed] = queue->is_triggered = true;
  queue->programmed = job_queue_context_after(queue, queue->programmed);
  queue->pending++;
  if (queue->is_triggered && !queue->is_running) job_queue_start(queue, cycle + queue->rules->trigger_cycles);
}

static inline void job_queue_soft_clear(struct job_queue *queue, uint32_t value, uint64_t cycle) {
  if (queue->is_running) {
    if (queue->rules->abort != NULL) queue->rules->abort(queue);
    if (cycle > queue->job_start) queue->statistics.busy_cycles += cycle - queue->job_start;
    queue->system.release(queue->system.context);
  }
  job_queue_empty(queue);
  if (value == 0 || !queue->rules->clear_keeps_counts) job_queue_forget_counts(queue);
  if (value == 0) memset(queue->words, 0, sizeof queue->words);
}

/* Number of the job word at an offset, or as many as there are where it is none. */
static inline uint32_t job_queue_word(const struct job_queue *queue, uint32_t offset) {
  const uint32_t number = (offset - JOB_QUEUE_FIRST_WORD) / 4;
  return offset % 4 == 0 && offset >= JOB_QUEUE_FIRST_WORD && number < queue->rules->job_words ? number
                                                                                              : queue->rules->job_words;
}

/* Registers look the same from every core; the lock is cooperative and does not remember its owner. */
static inline uint32_t job_queue_read(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  struct job_queue *queue = self;
  (void)core;
  if (queue->has_faulted) return 0;
  job_queue_advance(queue, cycle);
  uint32_t answer = 0, context = queue->programmed, inside = offset;
  switch (offset) {
    case JOB_QUEUE_TRIGGER: return queue->rules->trigger_answer;
    case JOB_QUEUE_ACQUIRE: return job_queue_acquire(queue);
    case JOB_QUEUE_FINISHED:
      answer = queue->finished_unread;
      queue->finished_unread = 0;
      return answer;
    case JOB_QUEUE_STATUS:
      for (uint32_t i = 0; i < queue->contexts; i++) answer |= (queue->is_busy[i] ? 1u : 0u) << (8 * i);
      return answer;
    case JOB_QUEUE_RUNNING: return job_queue_counted(queue, queue->finished_jobs);
    default: break;
  }
  if (offset < JOB_QUEUE_FIRST_WORD && offset % 4 == 0) return 0;
  const uint32_t stride = queue->rules->window_stride;
  if (stride != 0 && offset >= stride && offset / stride <= queue->contexts) {
    context = offset / stride - 1;
    inside = offset % stride;
  }
  if (job_queue_word(queue, inside) < queue->rules->job_words) return queue->words[context][job_queue_word(queue, inside)];
  job_queue_fault(queue, "%s has no register at offset 0x%x to read", queue->rules->name, offset);
  return 0;
}

static inline void job_queue_write(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct job_queue *queue = self;
  const struct job_queue_rules *rules = queue->rules;
  (void)core;
  if (queue->has_faulted) return;
  job_queue_advance(queue, cycle);
  const uint32_t word = job_queue_word(queue, offset), end = JOB_QUEUE_FIRST_WORD + 4 * rules->job_words;
  if (word < rules->job_words) {
    /* With all contexts busy the programmed one is the running one, which the hardware reads while it works. */
    if (queue->pending < queue->contexts) queue->words[queue->programmed][word] = value;
    else
      job_queue_fault(queue, "%s job register 0x%x was written while %s contexts are busy, which would change the running "
                      "job; ACQUIRE a context first", rules->name, offset, queue->contexts == 2 ? "both" : "all");
  } else if (offset == JOB_QUEUE_TRIGGER) {
    job_queue_commit(queue, value, cycle);
  } else if (offset == JOB_QUEUE_SOFT_CLEAR) {
    job_queue_soft_clear(queue, value, cycle);
  } else if (offset == JOB_QUEUE_SOFTWARE_EVENT && rules->has_software_event) {
    queue->system.raise(queue->system.context, cycle);
  } else if (offset % 4 != 0 || offset < end || offset >= end + 4 * rules->ignored_words) {
    job_queue_fault(queue, "%s has no register at offset 0x%x to write", rules->name, offset);
  }
}

static inline void job_queue_statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  *out = ((struct job_queue *)self)->statistics;
}

/* The function table of a model; `create` and `destroy` are its own, `reset` is where it holds more than the queue. */
#define JOB_QUEUE_PERIPHERAL(name_, register_bytes_, create_, destroy_, reset_)                                      \
  {.abi = TVM_PULP_PERIPHERAL_ABI, .name = (name_), .register_bytes = (register_bytes_), .create = (create_),        \
   .destroy = (destroy_), .reset = (reset_), .read = job_queue_read, .write = job_queue_write,                       \
   .next_event = job_queue_next_event, .advance = job_queue_advance, .statistics = job_queue_statistics}

/* A parameter of the SoC description and the values that the model takes. */
struct parameter_rule {
  const char *name;
  uint32_t *value;
  int64_t minimum, maximum;
};

/* Set all parameters that are given; false with a sentence in `error`. */
static inline bool set_parameters(const char *engine, const struct parameter_rule *rules, size_t rule_count,
                                  const struct tvm_pulp_parameter *given, size_t count, char *error, size_t error_bytes) {
  for (size_t i = 0; i < count; i++) {
    const struct parameter_rule *rule = rules, *end = rules + rule_count;
    while (rule < end && strcmp(given[i].name, rule->name) != 0) rule++;
    if (rule == end) {
      snprintf(error, error_bytes, "%s has no parameter %s", engine, given[i].name);
      return false;
    }
    if (given[i].value < rule->minimum || given[i].value > rule->maximum) {
      snprintf(error, error_bytes, "parameter %s of %s is %lld, choose %lld %s %lld", rule->name, engine,
               (long long)given[i].value, (long long)rule->minimum, rule->maximum - rule->minimum == 1 ? "or" : "to",
               (long long)rule->maximum);
      return false;
    }
    *rule->value = (uint32_t)given[i].value;
  }
  return true;
}

#endif /* TVM_PULP_JOB_QUEUE_H */
