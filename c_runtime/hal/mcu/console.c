/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters by the line: a call of the host for each would take long. */
#include "start.h"

/* A line, and the zero that ends it. */
static volatile uint8_t line[128];
static uint32_t length;

static void flush(void) {
  line[length] = 0;
  tvm_pulp_semihosting(TVM_PULP_HOST_WRITE_TEXT, (uint32_t)(uintptr_t)line);
  length = 0;
}

void tvm_pulp_put(uint32_t character) {
  line[length++] = (uint8_t)character;
  if (character == '\n' || length == sizeof line - 1u) flush();
}
