/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory functions of the C standard, for programs without a C library. */
#ifndef TVM_PULP_LIBC_MEMORY_H
#define TVM_PULP_LIBC_MEMORY_H

#include <stddef.h>

void *memcpy(void *restrict destination, const void *restrict source, size_t bytes);
void *memmove(void *destination, const void *source, size_t bytes);
void *memset(void *destination, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#endif /* TVM_PULP_LIBC_MEMORY_H */
