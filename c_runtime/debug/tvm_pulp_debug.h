/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of a debug build (`tvmc compile --debug`): before every step of the program, and once behind the last, one
 * core compares what the step is about to read with checksums computed for a sample input, and looks at the bytes
 * between the buffers of L1, or of the arena of a CPU. The first check that fails names its layer; the run goes on. */
#ifndef TVM_PULP_DEBUG_H
#define TVM_PULP_DEBUG_H

#include <stdint.h>

/* An address as programs keep it. */
#if UINTPTR_MAX > 0xffffffffu
typedef uintptr_t tvm_pulp_address;
#else
typedef uint32_t tvm_pulp_address;
#endif

enum {
  TVM_PULP_CHECK_INPUT,   /* an input of the network: where it differs from the sample, contents are not compared */
  TVM_PULP_CHECK_CONTENT, /* bytes that have to have a checksum */
  TVM_PULP_CHECK_GUARD,   /* bytes behind a buffer that nothing may have touched */
  TVM_PULP_CHECK_FILL,    /* the same bytes, when the buffer comes into being */
  TVM_PULP_CHECK_END
};

struct tvm_pulp_check {
  uint32_t step; /* of the program, from 0; checks stand in the order of their steps */
  uint32_t kind;
  const volatile uint8_t *address; /* in L1 */
  uint32_t base, offset;           /* or behind this pointer of the caller: its number plus one */
  uint32_t bytes, checksum;
  const char *layer, *what;
};

enum {
  TVM_PULP_DEBUG_NOTHING,     /* no inference was run */
  TVM_PULP_DEBUG_RIGHT,       /* every check of the last inference passed */
  TVM_PULP_DEBUG_OTHER_INPUT, /* not the sample: only the bytes between buffers were looked at, and they are intact */
  TVM_PULP_DEBUG_WRONG,       /* a check failed in this or an earlier inference; it is the first one that did */
  TVM_PULP_DEBUG_POINTER      /* an input or output, called `what`, is at `found`, which is null or no multiple of `expected` */
};

struct tvm_pulp_debug_report {
  uint32_t state, checks; /* checks: how many passed in the last inference */
  uint32_t step, number;  /* of the check that failed, by its place in the table */
  uint32_t expected, found;
  const char *layer, *what;
};

extern volatile struct tvm_pulp_debug_report tvm_pulp_debug_report;
/* The program's table. */
extern const struct tvm_pulp_check tvm_pulp_checks[];

/* The program's: return when no accelerator works. For the core that looks, before every step and behind the last. */
void tvm_pulp_debug_drain(void);

/* Whether a pointer that the caller gave is wrong: null, or not a multiple of `alignment`. Then the report says so. Every
 * core asks for itself and gets the same answer. */
int32_t tvm_pulp_debug_pointer(const volatile void *pointer, uint32_t alignment, const char *what);

/* Called by all cores together, by the executor; the one that looks has the pointers of the caller, the others 0. */
void tvm_pulp_debug_step(const tvm_pulp_address *bases, int32_t last);

#endif /* TVM_PULP_DEBUG_H */
