/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that the caller of a network has: the network itself makes none. */
#ifndef TVM_PULP_THREAD_POOL_H
#define TVM_PULP_THREAD_POOL_H

#include <stdint.h>

struct tvm_pulp_thread_pool {
  void *context;
  /* Calls part(arguments, i) for each i below `parts`, in any order and on any thread, and returns when all have. */
  void (*share)(void *context, void (*part)(void *arguments, int32_t i), void *arguments, int32_t parts);
};

#endif /* TVM_PULP_THREAD_POOL_H */
