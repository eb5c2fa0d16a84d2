#include "tvmgen_classifier.h"

#include "tvm_pulp/executor.h"
#include "neureka.h"
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

/* Layers in order:
 * transpose: image uint8[1, 4, 6, 6] -> image_2 uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 1147 cycles
 * conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4]
 *   neureka, 3x3, 1 tile of 1x6x6x4, about 827 cycles
 * conv2d: hidden uint8[1, 6, 6, 4] -> hidden2 uint8[1, 6, 6, 4]
 *   neureka, 3x3, 1 tile of 1x6x6x4, about 812 cycles
 * add: hidden uint8[1, 6, 6, 4], hidden2 uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4]
 *   cluster, tiled, 1 tile of 1x6x6x4, about 841 cycles
 * max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4]
 *   cluster, tiled, 1 tile of 1x3x3x4, about 663 cycles
 * reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4]
 *   cluster, tiled, 1 tile of 1x4, about 491 cycles
 * dense: mean uint8[1, 4] -> classes int8[1, 3]
 *   neureka, 1x1 over rows, 1 tile of 1x3, about 587 cycles
 */

static const uint32_t bundle_0[35];
static const uint32_t bundle_1[72];
static const uint32_t bundle_2[76];
static const uint32_t bundle_3[41];
static const uint32_t bundle_4[35];
static const uint32_t bundle_5[35];
static const uint32_t bundle_6[59];

/* image_2 */
__attribute__((aligned(16))) static const uint32_t bundle_0[35] = {
  (uint32_t)call_tvmgen_classifier_transpose, L1(420u), 0u, 0u, 65537u, L1(312u), 0u, 0u, 6u, 1u, 0u, L1(356u),
  1073741824u, TVM_PULP_STORE + 144u, L1(144u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(432u), 1073741824u,
  TVM_PULP_LOAD + 288u, L1(432u), (uint32_t)bundle_1, TVM_PULP_LOAD + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(144u),
};

/* hidden */
__attribute__((aligned(16))) static const uint32_t bundle_1[72] = {
  0u, 0u, 6u, 0u, 131328u, L1(472u), 1610612736u, (uint32_t)neureka_submit_once, L1(580u), 3758096384u, 0u, 0u,
  6u, 1u, 0u, L1(516u), 1073741824u, TVM_PULP_STORE + 144u, L1(208u), L2(0u), 3758096384u, 0u, 0u, 6u,
  1u, 1u, L1(0u), 1073741824u, TVM_PULP_LOAD + 304u, L1(0u), (uint32_t)bundle_2, TVM_PULP_LOAD + 144u, L1(848u), L2(0u), 3758096384u, 0u,
  0u, (uint32_t)tvmgen_classifier_hidden_dense_3x3_packed - 272629760u, L1(0u) - 28u, L1(208u), L1(688u), 0, L1(704u), L1(580u) + 28u, 4u, 24u, 0u, 32u,
  4u, 24u, 32u, 128u, 0u, 262148u, 393222u, 458759u, 65537u, 65537u, 286326784u, 4294967288u,
  0u, 34244115u,
  BUNDLE_1_CONSTANTS,
};

/* hidden2 */
__attribute__((aligned(16))) static const uint32_t bundle_2[76] = {
  0u, 0u, 6u, 0u, 196864u, L1(40u), 1610612736u, (uint32_t)neureka_submit_once, L1(168u), 3758096384u, 0u, 0u,
  6u, 1u, 0u, L1(84u), 1073741824u, TVM_PULP_STORE + 144u, L1(432u), L2(144u), 3758096384u, 0u, 0u, 6u,
  1u, 1u, L1(432u), 1073741824u, TVM_PULP_LOAD + 164u, L1(432u), (uint32_t)bundle_3, TVM_PULP_LOAD + 144u, L1(608u), L2(0u), TVM_PULP_LOAD + 144u, L1(752u),
  L2(144u), 3758096384u, 0u, 0u, 0u, 0u, (uint32_t)tvmgen_classifier_hidden2_dense_3x3_packed - 272629760u, L1(848u) - 28u, L1(432u), L1(272u), 0, L1(288u),
  L1(168u) + 28u, 4u, 24u, 0u, 32u, 4u, 24u, 32u, 128u, 0u, 262148u, 393222u,
  458759u, 65537u, 65537u, 286326784u, 4294967288u, 0u, 34244115u,
  BUNDLE_2_CONSTANTS,
};

/* total */
__attribute__((aligned(16))) static const uint32_t bundle_3[41] = {
  (uint32_t)call_tvmgen_classifier_add, L1(564u), 0u, 0u, 262145u, L1(456u), 0u, 0u, 6u, 1u, 0u, L1(500u),
  1073741824u, TVM_PULP_STORE + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(144u), 1073741824u,
  TVM_PULP_LOAD + 140u, L1(144u), (uint32_t)bundle_4, TVM_PULP_LOAD + 144u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(608u), L1(752u), L1(592u),
  L1(592u), L1(0u),
  BUNDLE_3_CONSTANTS,
};

/* pool */
__attribute__((aligned(16))) static const uint32_t bundle_4[35] = {
  (uint32_t)call_tvmgen_classifier_max_pool, L1(276u), 0u, 0u, 327681u, L1(168u), 0u, 0u, 6u, 1u, 0u, L1(212u),
  1073741824u, TVM_PULP_STORE + 36u, L1(288u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(368u), 1073741824u,
  TVM_PULP_LOAD + 140u, L1(368u), (uint32_t)bundle_5, TVM_PULP_LOAD + 36u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(288u),
};

/* mean */
__attribute__((aligned(16))) static const uint32_t bundle_5[35] = {
  (uint32_t)call_tvmgen_classifier_reduce, L1(500u), 0u, 0u, 393217u, L1(392u), 0u, 0u, 6u, 1u, 0u, L1(436u),
  1073741824u, TVM_PULP_STORE + 4u, L1(48u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(0u), 1073741824u,
  TVM_PULP_LOAD + 236u, L1(0u), (uint32_t)bundle_6, TVM_PULP_LOAD + 4u, L1(512u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(48u),
};

/* classes */
__attribute__((aligned(16))) static const uint32_t bundle_6[59] = {
  0u, 0u, 6u, 0u, 459008u, L1(40u), 1610612736u, (uint32_t)neureka_submit_once, L1(108u), 3758096384u, 0u, 0u,
  6u, 1u, 1u, L1(84u), 1073741824u, TVM_PULP_STORE + 4194307u, L1(368u), 0u, 3758096384u, 0u, 0u, 0u,
  0u, 524288u, 0u, (uint32_t)tvmgen_classifier_classes_pointwise_packed - 272629760u, L1(512u), L1(368u), L1(208u), 0, L1(224u), L1(108u) + 28u, 4u, 4u,
  0u, 32u, 3u, 3u, 32u, 32u, 0u, 196612u, 65537u, 65537u, 65537u, 65537u,
  0u, 4294967197u, 0u, 42501719u,
  BUNDLE_6_CONSTANTS,
};

static void wait_for_job(uint32_t submitted, uint32_t number) {
  (void)number;
  neureka_wait(submitted);
}

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  if (tvm_pulp_is_agent()) {
    bases[0] = (uint32_t)(uintptr_t)inputs->image;
    bases[1] = (uint32_t)(uintptr_t)outputs->classes;
    const uint32_t group = tvm_pulp_dma_begin();
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(288u)), (const uint8_t *)bundle_0 + 0, 140);
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(0u)), (void *)(uintptr_t)(bases[0] + 0u), 144);
    tvm_pulp_dma_wait(group);
  }
  tvm_pulp_barrier();
  tvm_pulp_execute((const struct tvm_pulp_step *)(const void *)(tvm_pulp_l1_arena + 288), bases, wait_for_job);
  return 0;
}
