/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores in tiles once more, with the hooks of observer.h. */
#define OBSERVED
#include "pool_execute.c" /* NOLINT */
