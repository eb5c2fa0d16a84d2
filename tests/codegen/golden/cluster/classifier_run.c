#include "tvmgen_classifier.h"

#include "tvm_pulp/executor.h"
#include "classifier_kernels.h"
#include "classifier_weights.h"
#include "classifier_bundle_weights.h"

#define L1(offset) ((uint32_t)tvm_pulp_l1_arena + (offset))
#define L2(offset) ((uint32_t)arena + (offset))

/* Activations; the largest set alive at once is 288 bytes. */
TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[288];
/* Where the caller keeps inputs and outputs. */
TVM_PULP_IN_L2 static uint32_t bases[2];

static void call_tvmgen_classifier_transpose(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_transpose((const uint8_t *)(uintptr_t)words[0], (uint8_t *)(uintptr_t)words[1], (int32_t)core, (int32_t)cores);
}

static void call_tvmgen_classifier_conv2d(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_conv2d((const uint8_t *)(uintptr_t)words[0], (const int8_t *)(uintptr_t)words[1], (const int32_t *)(uintptr_t)words[2], (const int32_t *)(uintptr_t)words[3], (uint8_t *)(uintptr_t)words[4], (int32_t)core, (int32_t)cores);
}

static void call_tvmgen_classifier_add(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_add((const uint8_t *)(uintptr_t)words[0], (const uint8_t *)(uintptr_t)words[1], (const int32_t *)(uintptr_t)words[2], (const int32_t *)(uintptr_t)words[3], (uint8_t *)(uintptr_t)words[4], (int32_t)core, (int32_t)cores);
}

static void call_tvmgen_classifier_max_pool(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_max_pool((const uint8_t *)(uintptr_t)words[0], (uint8_t *)(uintptr_t)words[1], (int32_t)core, (int32_t)cores);
}

static void call_tvmgen_classifier_reduce(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_reduce((const uint8_t *)(uintptr_t)words[0], (uint8_t *)(uintptr_t)words[1], (int32_t)core, (int32_t)cores);
}

static void call_tvmgen_classifier_dense(const void *arguments, uint32_t core, uint32_t cores) {
  const uint32_t *words = arguments;
  tvmgen_classifier_dense((const uint8_t *)(uintptr_t)words[0], (const int8_t *)(uintptr_t)words[1], (const int32_t *)(uintptr_t)words[2], (const int32_t *)(uintptr_t)words[3], (const int32_t *)(uintptr_t)words[4], (int8_t *)(uintptr_t)words[5], (int32_t)core, (int32_t)cores);
}

/* Layers in order:
 * transpose: image uint8[1, 4, 6, 6] -> image_2 uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 1137 cycles
 * conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 4509 cycles
 * conv2d: hidden uint8[1, 6, 6, 4] -> hidden2 uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 4462 cycles
 * add: hidden uint8[1, 6, 6, 4], hidden2 uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 842 cycles
 * max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4]
 *   cluster, tiled, 1 tile of 1x3x3x4, about 665 cycles
 * reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4]
 *   cluster, tiled, 1 tile of 1x4, about 492 cycles
 * dense: mean uint8[1, 4] -> classes int8[1, 3]
 *   cluster, tiled, 1 tile of 1x3, about 363 cycles
 */

static const uint32_t bundle_0[35];
static const uint32_t bundle_1[84];
static const uint32_t bundle_2[88];
static const uint32_t bundle_3[41];
static const uint32_t bundle_4[35];
static const uint32_t bundle_5[35];
static const uint32_t bundle_6[45];

/* image_2 */
__attribute__((aligned(16))) static const uint32_t bundle_0[35] = {
  (uint32_t)call_tvmgen_classifier_transpose, L1(820u), 0u, 0u, 65537u, L1(712u), 0u, 0u, 6u, 1u, 0u, L1(756u),
  1073741824u, TVM_PULP_STORE + 144u, L1(144u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(352u), 1073741824u,
  TVM_PULP_LOAD + 336u, L1(352u), (uint32_t)bundle_1, TVM_PULP_LOAD + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(144u),
};

/* hidden */
__attribute__((aligned(16))) static const uint32_t bundle_1[84] = {
  (uint32_t)call_tvmgen_classifier_conv2d, L1(484u), 0u, 0u, 131073u, L1(376u), 0u, 0u, 6u, 1u, 0u, L1(420u),
  1073741824u, TVM_PULP_STORE + 144u, L1(144u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(0u), 1073741824u,
  TVM_PULP_LOAD + 352u, L1(0u), (uint32_t)bundle_2, TVM_PULP_LOAD + 144u, L1(688u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(512u), L1(656u),
  L1(672u), L1(144u),
  BUNDLE_1_CONSTANTS,
};

/* hidden2 */
__attribute__((aligned(16))) static const uint32_t bundle_2[88] = {
  (uint32_t)call_tvmgen_classifier_conv2d, L1(152u), 0u, 0u, 196609u, L1(24u), 0u, 0u, 6u, 1u, 0u, L1(68u),
  1073741824u, TVM_PULP_STORE + 144u, L1(352u), L2(144u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(352u), 1073741824u,
  TVM_PULP_LOAD + 164u, L1(352u), (uint32_t)bundle_3, TVM_PULP_LOAD + 144u, L1(528u), L2(0u), TVM_PULP_LOAD + 144u, L1(672u), L2(144u), 3758096384u, 0u, 0u,
  0u, 0u, L1(688u), L1(176u), L1(320u), L1(336u), L1(352u),
  BUNDLE_2_CONSTANTS,
};

/* total */
__attribute__((aligned(16))) static const uint32_t bundle_3[41] = {
  (uint32_t)call_tvmgen_classifier_add, L1(484u), 0u, 0u, 262145u, L1(376u), 0u, 0u, 6u, 1u, 0u, L1(420u),
  1073741824u, TVM_PULP_STORE + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(144u), 1073741824u,
  TVM_PULP_LOAD + 140u, L1(144u), (uint32_t)bundle_4, TVM_PULP_LOAD + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(528u), L1(672u), L1(512u),
  L1(512u), L1(0u),
  BUNDLE_3_CONSTANTS,
};

/* pool */
__attribute__((aligned(16))) static const uint32_t bundle_4[35] = {
  (uint32_t)call_tvmgen_classifier_max_pool, L1(276u), 0u, 0u, 327681u, L1(168u), 0u, 0u, 6u, 1u, 0u, L1(212u),
  1073741824u, TVM_PULP_STORE + 36u, L1(288u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(288u), 1073741824u,
  TVM_PULP_LOAD + 140u, L1(288u), (uint32_t)bundle_5, TVM_PULP_LOAD + 36u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(288u),
};

/* mean */
__attribute__((aligned(16))) static const uint32_t bundle_5[35] = {
  (uint32_t)call_tvmgen_classifier_reduce, L1(420u), 0u, 0u, 393217u, L1(312u), 0u, 0u, 6u, 1u, 0u, L1(356u),
  1073741824u, TVM_PULP_STORE + 4u, L1(48u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(0u), 1073741824u,
  TVM_PULP_LOAD + 180u, L1(0u), (uint32_t)bundle_6, TVM_PULP_LOAD + 4u, L1(192u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(48u),
};

/* classes */
__attribute__((aligned(16))) static const uint32_t bundle_6[45] = {
  (uint32_t)call_tvmgen_classifier_dense, L1(92u), 0u, 0u, 458753u, L1(24u), 0u, 0u, 6u, 1u, 1u, L1(68u),
  1073741824u, TVM_PULP_STORE + 4194307u, L1(208u), 0u, 3758096384u, 0u, 0u, 0u, 0u, 524288u, 0u, L1(192u),
  L1(128u), L1(144u), L1(160u), L1(176u), L1(208u),
  BUNDLE_6_CONSTANTS,
};

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  if (tvm_pulp_is_agent()) {
    bases[0] = (uint32_t)(uintptr_t)inputs->image;
    bases[1] = (uint32_t)(uintptr_t)outputs->classes;
    const uint32_t group = tvm_pulp_dma_begin();
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(688u)), (const uint8_t *)bundle_0 + 0, 140);
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(0u)), (void *)(uintptr_t)(bases[0] + 0u), 144);
    tvm_pulp_dma_wait(group);
  }
  tvm_pulp_barrier();
  tvm_pulp_execute((const struct tvm_pulp_step *)(const void *)(tvm_pulp_l1_arena + 688), bases, 0);
  return 0;
}
