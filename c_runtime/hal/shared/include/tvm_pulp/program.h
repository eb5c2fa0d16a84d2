/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program provides to the runtime that starts it:
 *   void tvm_pulp_network(void);          one inference, entered by all cores together
 *   const uint32_t tvm_pulp_mark_count;   how many marks it sets, at most TVM_PULP_MARKS
 *   const struct tvm_pulp_symbol tvm_pulp_symbols[];   optional: its inputs and outputs, for printing (symbols.h)
 * It is built with
 *   TVM_PULP_CORES     cores that compute, 1 to TVM_PULP_HARDWARE_CORES
 *   TVM_PULP_PROFILE   if defined, marks are stored
 *   TVM_PULP_CHECKS_CONSTANTS   if defined, constants outside of the program are compared with checksums at the start */
#ifndef TVM_PULP_PROGRAM_H
#define TVM_PULP_PROGRAM_H

#include <stdint.h>

#include "tvm_pulp/placement.h"
#include "tvm_pulp/profile.h"
#include "tvm_pulp/symbols.h"

void tvm_pulp_network(void);
/* The program sets it when a run returned another status than OK; the inferences go on, the exit code tells. */
extern volatile uint32_t tvm_pulp_refused;
extern const uint32_t tvm_pulp_mark_count;
#ifdef TVM_PULP_CHECKS_CONSTANTS
/* 0 if L3 and weight memory hold the constants of the archive; one core calls it, before the first inference. */
int32_t tvm_pulp_check_constants(void);
#endif

#endif /* TVM_PULP_PROGRAM_H */
