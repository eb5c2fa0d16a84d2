/* SPDX-License-Identifier: Apache-2.0 */
#include "ita_custom_platform.h"

struct driver_hooks driver_hooks;
