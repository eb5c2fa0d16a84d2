/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of layers on standard output: a program that keeps its layers writes the bytes of each tile when it is made,
 * in the order of the table and nothing else. The host knows the table. */
#ifndef TVM_PULP_SHOW_LAYERS_H
#define TVM_PULP_SHOW_LAYERS_H

#include <stdint.h>

struct tvm_pulp_result {
  uint32_t step; /* of the program, before which it is complete; results stand in the order of their steps */
  const volatile uint8_t *address;
  uint32_t bytes; /* 0 ends the table; its step is the number of steps */
};

/* The program's. */
extern const struct tvm_pulp_result tvm_pulp_results[];

/* The platform's. */
void tvm_pulp_show(const volatile uint8_t *data, uint32_t bytes);

/* Called by one core before every step and behind the last. */
void tvm_pulp_show_layers(void);

#endif /* TVM_PULP_SHOW_LAYERS_H */
