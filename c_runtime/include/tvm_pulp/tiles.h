/* SPDX-License-Identifier: Apache-2.0
 *
 * XpulpV2 as cores in pools of tiles have it: a part of it, or nothing, in whose place the models stand. */
#ifndef TVM_PULP_TILES_H
#define TVM_PULP_TILES_H

#if !defined(POOL_DOT_PRODUCTS) || !POOL_DOT_PRODUCTS
#define TVM_PULP_XPULP_MODEL
#endif
#include "tvm_pulp/xpulp.h"

#endif /* TVM_PULP_TILES_H */
