/* SPDX-License-Identifier: Apache-2.0
 *
 * Which executor is linked. The symbol has no storage: its address is the number, so that comparing takes no load. */
#ifndef TVM_PULP_EXECUTOR_MAGIC_H
#define TVM_PULP_EXECUTOR_MAGIC_H

#include <stdint.h>

extern const uint8_t tvm_pulp_executor_magic[];

#define TVM_PULP_DEFINE_EXECUTOR_MAGIC(number) TVM_PULP_DEFINE_EXECUTOR_MAGIC_(number)
#define TVM_PULP_DEFINE_EXECUTOR_MAGIC_(number) \
  __asm__(".globl tvm_pulp_executor_magic\n.set tvm_pulp_executor_magic, " #number)

#endif /* TVM_PULP_EXECUTOR_MAGIC_H */
