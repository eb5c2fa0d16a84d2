/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores once more, with the hooks of observer.h. */
#define OBSERVED
#include "snitch_execute.c" /* NOLINT */
