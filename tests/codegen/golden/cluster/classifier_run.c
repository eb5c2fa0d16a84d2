#include "tvmgen_classifier.h"

#include "tvm_pulp/executor.h"
#include "tvm_pulp/kernels.h"
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
 *   cluster, tiled, 1 tile of 1x6x6x4, about 1308 cycles
 * conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4]
 *   cluster, conv2d kernel, 1 tile of 1x6x6x4, about 4981 cycles
 * conv2d: hidden uint8[1, 6, 6, 4] -> hidden2 uint8[1, 6, 6, 4]
 *   cluster, conv2d kernel, 1 tile of 1x6x6x4, about 4459 cycles
 * add: hidden uint8[1, 6, 6, 4], hidden2 uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4]
 *   cluster, add kernel, 1 tile of 1x6x6x4, about 1097 cycles
 * max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4]
 *   cluster, tiled, 1 tile of 1x3x3x4, about 695 cycles
 * reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4]
 *   cluster, tiled, 1 tile of 1x4, about 513 cycles
 * dense: mean uint8[1, 4] -> classes int8[1, 3]
 *   cluster, tiled, 1 tile of 1x3, about 386 cycles
 */

static const uint32_t bundle_0[35];
static const uint32_t bundle_1[116];
static const uint32_t bundle_2[120];
static const uint32_t bundle_3[61];
static const uint32_t bundle_4[35];
static const uint32_t bundle_5[35];
static const uint32_t bundle_6[45];

/* image_2 */
__attribute__((aligned(16))) static const uint32_t bundle_0[35] = {
  (uint32_t)call_tvmgen_classifier_transpose, L1(420u), 0u, 0u, 65537u, L1(312u), 0u, 0u, 6u, 1u, 0u, L1(356u),
  1073741824u, 1310864u, L1(144u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(1680u), 1073741824u,
  1442256u, L1(1680u), (uint32_t)bundle_1, 1441936u, L1(1184u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(144u),
};

/* hidden */
__attribute__((aligned(16))) static const uint32_t bundle_1[116] = {
  (uint32_t)tvm_pulp_kernel_conv2d, L1(1812u), 0u, 0u, 131073u, L1(1704u), 0u, 0u, 6u, 1u, 0u, L1(1748u),
  1073741824u, 1310864u, L1(1344u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(1184u), 1073741824u,
  1442272u, L1(1184u), (uint32_t)bundle_2, 1441936u, L1(2160u), L2(0u), 3758096384u, 0u, 0u, L1(1184u), L1(1952u), L1(2096u),
  L1(1344u), L1(0u), 148u, 6u, 6u, 4u, 6u, 6u, 4u, 3u, 3u, 1u,
  1u, 1u, 1u, 1u, 1u, 0u, 4u, 4u, 36u, 1u, 1u, 1u,
  0u, L1(2112u), L1(2128u), 10u, 0u, 0u, 255u,
  BUNDLE_1_CONSTANTS,
};

/* hidden2 */
__attribute__((aligned(16))) static const uint32_t bundle_2[120] = {
  (uint32_t)tvm_pulp_kernel_conv2d, L1(1336u), 0u, 0u, 196609u, L1(1208u), 0u, 0u, 6u, 1u, 0u, L1(1252u),
  1073741824u, 1310864u, L1(1680u), L2(144u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(0u), 1073741824u,
  1442036u, L1(0u), (uint32_t)bundle_3, 1441936u, L1(256u), L2(0u), 1441936u, L1(416u), L2(144u), 3758096384u, 0u, 0u,
  0u, 0u, L1(2160u), L1(1472u), L1(1616u), L1(1680u), L1(0u), 148u, 6u, 6u, 4u, 6u,
  6u, 4u, 3u, 3u, 1u, 1u, 1u, 1u, 1u, 1u, 0u, 4u,
  4u, 36u, 1u, 1u, 1u, 0u, L1(1632u), L1(1648u), 10u, 0u, 0u, 255u,
  BUNDLE_2_CONSTANTS,
};

/* total */
__attribute__((aligned(16))) static const uint32_t bundle_3[61] = {
  (uint32_t)tvm_pulp_kernel_add, L1(132u), 0u, 0u, 262145u, L1(24u), 0u, 0u, 6u, 1u, 0u, L1(68u),
  1073741824u, 1310864u, L1(576u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(400u), 1073741824u,
  1441932u, L1(400u), (uint32_t)bundle_4, 1441936u, L1(256u), L2(0u), 3758096384u, 0u, 0u, L1(256u), L1(416u), L1(576u),
  0u, 0u, 0u, 0u, 1u, 144u, 144u, 144u, 144u, 1u, 1u, 1u,
  1u, 0u, 0u, 1u, 0u, 0u, L1(240u), L1(240u), 1u, 0u, 0u, 255u,
  BUNDLE_3_CONSTANTS,
};

/* pool */
__attribute__((aligned(16))) static const uint32_t bundle_4[35] = {
  (uint32_t)call_tvmgen_classifier_max_pool, L1(532u), 0u, 0u, 327681u, L1(424u), 0u, 0u, 6u, 1u, 0u, L1(468u),
  1073741824u, 1310756u, L1(0u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(192u), 1073741824u,
  1441932u, L1(192u), (uint32_t)bundle_5, 1441828u, L1(0u), L2(0u), 3758096384u, 0u, 0u, L1(256u), L1(0u),
};

/* mean */
__attribute__((aligned(16))) static const uint32_t bundle_5[35] = {
  (uint32_t)call_tvmgen_classifier_reduce, L1(324u), 0u, 0u, 393217u, L1(216u), 0u, 0u, 6u, 1u, 0u, L1(260u),
  1073741824u, 1310724u, L1(48u), L2(0u), 3758096384u, 0u, 0u, 6u, 1u, 1u, L1(0u), 1073741824u,
  1441972u, L1(0u), (uint32_t)bundle_6, 1441796u, L1(336u), L2(0u), 3758096384u, 0u, 0u, L1(0u), L1(48u),
};

/* classes */
__attribute__((aligned(16))) static const uint32_t bundle_6[45] = {
  (uint32_t)call_tvmgen_classifier_dense, L1(92u), 0u, 0u, 458753u, L1(24u), 0u, 0u, 6u, 1u, 1u, L1(68u),
  1073741824u, 5505027u, L1(192u), 0u, 3758096384u, 0u, 0u, 0u, 0u, 524288u, 0u, L1(336u),
  L1(128u), L1(144u), L1(160u), L1(176u), L1(192u),
  BUNDLE_6_CONSTANTS,
};

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  if (tvm_pulp_core_id() == 0u) {
    bases[0] = (uint32_t)(uintptr_t)inputs->image;
    bases[1] = (uint32_t)(uintptr_t)outputs->classes;
    const uint32_t group = tvm_pulp_dma_begin();
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(288u)), (const uint8_t *)bundle_0 + 0, 140);
    tvm_pulp_dma_load((void *)(uintptr_t)(L1(0u)), (void *)(uintptr_t)(bases[0] + 0u), 144);
    tvm_pulp_dma_wait(group);
  }
  tvm_pulp_barrier();
  tvm_pulp_execute((const struct tvm_pulp_step *)(const void *)(tvm_pulp_l1_arena + 288), bases, 0);
  return 0;
}
