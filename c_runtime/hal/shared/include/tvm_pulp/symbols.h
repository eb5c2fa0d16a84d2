/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program tells about itself through its console, so that the same executable can be run and read back
 * where nobody looks into its memories: on another simulator, on a board. */
#ifndef TVM_PULP_SYMBOLS_H
#define TVM_PULP_SYMBOLS_H

#include <stdint.h>

struct tvm_pulp_symbol {
  const char *name; /* 0 ends a table */
  volatile const void *address;
  uint32_t bytes;
};

/* Inputs and outputs of the network; a program may have none. */
extern const struct tvm_pulp_symbol tvm_pulp_symbols[] __attribute__((weak));

/* What is printed, a sum of these. 0 in the executable; whoever loads it sets the word.
 *   TVM_PULP_REQUEST_TABLE      before the start:  "symbol NAME ADDRESS BYTES" for everything that can be read or written
 *   TVM_PULP_REQUEST_CONTENTS   at the end:        "data NAME OFFSET BYTES-IN-HEX", 32 bytes a line
 * Numbers are hexadecimal; the last line of either is "end". */
enum { TVM_PULP_REQUEST_TABLE = 1, TVM_PULP_REQUEST_CONTENTS = 2 };
extern volatile uint32_t tvm_pulp_request;

#endif /* TVM_PULP_SYMBOLS_H */
