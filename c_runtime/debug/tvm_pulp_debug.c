/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp_debug.h"

#include "tvm_pulp/hal.h"

enum { GUARD_BYTE = 0xC5 };

volatile struct tvm_pulp_debug_report tvm_pulp_debug_report;

/* Where the core that looks is in the program and in the table, and whether this inference is that of the sample. */
static uint32_t step, place, is_sample;

/* sum of (byte + 1) * factor^(bytes behind it), modulo 2^32: the order counts, and so do zeros at the end. */
static uint32_t checksum(const volatile uint8_t *data, uint32_t bytes) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < bytes; i++) sum = sum * 16777619u + data[i] + 1u;
  return sum;
}

static void fail(const struct tvm_pulp_check *check, uint32_t found) {
  if (tvm_pulp_debug_report.state == TVM_PULP_DEBUG_WRONG) return;
  tvm_pulp_debug_report.state = TVM_PULP_DEBUG_WRONG;
  tvm_pulp_debug_report.step = check->step;
  tvm_pulp_debug_report.number = (uint32_t)(check - tvm_pulp_checks);
  tvm_pulp_debug_report.expected = check->checksum;
  tvm_pulp_debug_report.found = found;
  tvm_pulp_debug_report.layer = check->layer;
  tvm_pulp_debug_report.what = check->what;
}

int32_t tvm_pulp_debug_pointer(const volatile void *pointer, uint32_t alignment, const char *what) {
  const uintptr_t address = (uintptr_t)pointer;
  if (address != 0u && address % alignment == 0u) return 0;
  if (tvm_pulp_debug_report.state != TVM_PULP_DEBUG_WRONG) {
    tvm_pulp_debug_report.expected = alignment;
    tvm_pulp_debug_report.found = (uint32_t)address;
    tvm_pulp_debug_report.what = what;
    tvm_pulp_debug_report.state = TVM_PULP_DEBUG_POINTER;
  }
  return 1;
}

static void look(const struct tvm_pulp_check *check, const tvm_pulp_address *bases) {
  const volatile uint8_t *data = check->address;
  if (check->base != 0u) data = (const volatile uint8_t *)(uintptr_t)bases[check->base - 1u] + check->offset;
  if (check->kind == TVM_PULP_CHECK_FILL) {
    volatile uint8_t *guard = (volatile uint8_t *)(uintptr_t)data;
    for (uint32_t i = 0; i < check->bytes; i++) guard[i] = GUARD_BYTE;
    return;
  }
  if (check->kind == TVM_PULP_CHECK_CONTENT && !is_sample) return;
  const uint32_t found = checksum(data, check->bytes);
  if (check->kind == TVM_PULP_CHECK_INPUT) {
    if (found != check->checksum) is_sample = 0u;
  } else if (found != check->checksum) {
    fail(check, found);
  } else {
    tvm_pulp_debug_report.checks++;
  }
}

void tvm_pulp_debug_step(const tvm_pulp_address *bases, int32_t last) {
  /* All of the step before is done, and nothing of this one has begun. */
  tvm_pulp_barrier();
  if (bases != 0) {
    if (step == 0u) {
      place = 0u;
      is_sample = 1u;
      tvm_pulp_debug_report.checks = 0u;
    }
    /* Jobs that are queued would overwrite what the ones before them made. */
    tvm_pulp_debug_drain();
    for (; tvm_pulp_checks[place].kind != TVM_PULP_CHECK_END && tvm_pulp_checks[place].step <= step; place++)
      look(&tvm_pulp_checks[place], bases);
    step = last ? 0u : step + 1u;
    if (last && tvm_pulp_debug_report.state != TVM_PULP_DEBUG_WRONG)
      tvm_pulp_debug_report.state = is_sample ? TVM_PULP_DEBUG_RIGHT : TVM_PULP_DEBUG_OTHER_INPUT;
  }
  tvm_pulp_barrier();
}
