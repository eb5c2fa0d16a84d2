#include "tvmgen_classifier.h"

#include "tvm_pulp/steps.h"
#include "neureka.h"
#include "classifier_kernels.h"
#include "classifier_weights.h"
#include "classifier_bundle_weights.h"

/* Where the caller keeps inputs and outputs. */
enum { BASE_image, BASE_classes };
TVM_PULP_IN_L2 static uint32_t bases[2];

/* Activations in L2; the largest set alive at once is 144 bytes. */
TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[144];
#define L2_image_2 ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_hidden ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_total ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_pool ((uint32_t)arena + 0u) /* uint8[1, 3, 3, 4] */
#define L2_mean ((uint32_t)arena + 0u) /* uint8[1, 4] */

/* What lies in L1, one after the other where places are the same. */
#define L1_bundle_0 L1(288u) /* 140 bytes */
#define L1_image_2_x0 L1(0u) /* 144 bytes */
#define L1_image_2_y0 L1(144u) /* 144 bytes */
#define L1_bundle_1 L1(752u) /* 416 bytes */
#define L1_hidden_x L1(0u) /* 208 bytes */
#define L1_hidden_raw L1(208u) /* 144 bytes */
#define L1_bundle_2 L1(0u) /* 752 bytes */
#define L1_total_x L1(1168u) /* 208 bytes */
#define L1_total_y L1(1104u) /* 144 bytes */
#define L1_total_pair L1(752u) /* 352 bytes */
#define L1_bundle_3 L1(896u) /* 140 bytes */
#define L1_pool_x0 L1(752u) /* 144 bytes */
#define L1_pool_y0 L1(0u) /* 36 bytes */
#define L1_bundle_4 L1(368u) /* 140 bytes */
#define L1_mean_x0 L1(0u) /* 36 bytes */
#define L1_mean_y0 L1(48u) /* 4 bytes */
#define L1_bundle_5 L1(0u) /* 364 bytes */
#define L1_classes_x L1(512u) /* 68 bytes */
#define L1_classes_raw L1(368u) /* 3 bytes */

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

/* Layers in order:
 * transpose: image uint8[1, 4, 6, 6] -> image_2 uint8[1, 6, 6, 4] (of hidden_acc)
 *   cluster, tiled, 1 tile of 1x6x6x4, about 849 cycles
 * conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4] (of hidden_acc, hidden)
 *   neureka, 3x3, 1 tile of 1x6x6x4, about 826 cycles
 * conv2d+add: hidden uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4] (of hidden2_acc, hidden2, sum_acc, total)
 *   neureka, 1x1 and 3x3, summed by 1x1, 1 tile of 1x6x6x4, about 976 cycles
 * max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4]
 *   cluster, tiled, 1 tile of 1x3x3x4, about 667 cycles
 * reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4]
 *   cluster, tiled, 1 tile of 1x4, about 494 cycles
 * dense: mean uint8[1, 4] -> classes int8[1, 3] (of dense_acc, classes)
 *   neureka, 1x1 over rows, 1 tile of 1x3, about 582 cycles
 */
/* Marks of the layers: core 0 writes tvm_pulp_marks[layer_NAME] when one begins. */
enum {
  layer_image_2,
  layer_hidden,
  layer_total,
  layer_pool,
  layer_mean,
  layer_classes,
};

struct bundle_0 { /* image_2 */
  struct tvm_pulp_step step_0;
  struct tvm_pulp_step step_1;
  uint32_t step_1_core_0[5];
  struct tvm_pulp_step step_2;
  uint32_t step_2_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_0[2];
};
_Static_assert(sizeof(struct bundle_0) == 140, "as planned");

struct bundle_1 { /* hidden */
  struct tvm_pulp_step step_3;
  uint32_t step_3_core_0[4];
  struct tvm_pulp_step step_4;
  uint32_t step_4_core_0[5];
  struct tvm_pulp_step step_5;
  uint32_t step_5_core_0[8];
  uint32_t unused_6[2];
  struct neureka_tile job_1;
  uint32_t unused_8[2];
  uint32_t hidden_scale_constant[1];
  uint32_t unused_10[3];
  uint32_t hidden_folded_bias_constant[4];
};
_Static_assert(sizeof(struct bundle_1) == 288, "as planned");

struct bundle_2 { /* total */
  struct tvm_pulp_step step_6;
  uint32_t step_6_core_0[4];
  struct tvm_pulp_step step_7;
  uint32_t step_7_core_0[4];
  struct tvm_pulp_step step_8;
  uint32_t step_8_core_0[4];
  struct tvm_pulp_step step_9;
  uint32_t step_9_core_0[5];
  struct tvm_pulp_step step_10;
  uint32_t step_10_core_0[8];
  uint32_t unused_10[2];
  struct neureka_tile job_2;
  struct neureka_changed_job job_3;
  struct neureka_changed_job job_4;
  uint32_t total_requant_a_scale_constant[1];
  uint32_t unused_15[3];
  uint32_t total_requant_a_folded_bias_constant[4];
  uint32_t hidden2_scale_constant[1];
  uint32_t unused_18[3];
  uint32_t hidden2_folded_bias_constant[4];
  uint32_t total_sum_scale_constant[1];
  uint32_t unused_21[3];
  uint32_t total_sum_folded_bias_constant[4];
};
_Static_assert(sizeof(struct bundle_2) == 624, "as planned");

struct bundle_3 { /* pool */
  struct tvm_pulp_step step_11;
  struct tvm_pulp_step step_12;
  uint32_t step_12_core_0[5];
  struct tvm_pulp_step step_13;
  uint32_t step_13_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_5[2];
};
_Static_assert(sizeof(struct bundle_3) == 140, "as planned");

struct bundle_4 { /* mean */
  struct tvm_pulp_step step_14;
  struct tvm_pulp_step step_15;
  uint32_t step_15_core_0[5];
  struct tvm_pulp_step step_16;
  uint32_t step_16_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_6[2];
};
_Static_assert(sizeof(struct bundle_4) == 140, "as planned");

struct bundle_5 { /* classes */
  struct tvm_pulp_step step_17;
  uint32_t step_17_core_0[4];
  struct tvm_pulp_step step_18;
  uint32_t step_18_core_0[5];
  struct tvm_pulp_step step_19;
  struct neureka_tile job_7;
  uint32_t classes_scale_constant[1];
  uint32_t unused_7[3];
  uint32_t classes_folded_bias_constant[3];
};
_Static_assert(sizeof(struct bundle_5) == 236, "as planned");

static const struct bundle_0 bundle_0;
static const struct bundle_1 bundle_1;
static const struct bundle_2 bundle_2;
static const struct bundle_3 bundle_3;
static const struct bundle_4 bundle_4;
static const struct bundle_5 bundle_5;

/* --- image_2 */
__attribute__((aligned(16))) static const struct bundle_0 bundle_0 = {
  /* Step 0: transpose image_2, cluster, tiled */
  .step_0 = {
    KERNEL(call_tvmgen_classifier_transpose, bundle_0, operands_0),
    .control = BARRIER | LAYER(layer_image_2),
    NEXT(bundle_0, step_1),
  },
  /* Step 1: transfers that nothing overlaps */
  .step_1 = {
    .commands = COMMANDS(bundle_0, 1, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_0, step_2),
  },
  .step_1_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_image_2_y0, L2_image_2), /* result of image_2 */
    END,
  },
  /* Step 2: transfers that nothing overlaps */
  .step_2 = {
    .commands = COMMANDS(bundle_0, 2, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_1, step_3),
  },
  .step_2_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(288u, L1_bundle_1, &bundle_1), /* steps and constants of hidden */
    DMA_LOAD(144u, L1_hidden_x, L2_image_2), /* for hidden */
    END,
  },
  .operands_0 = {
    L1_image_2_x0, /* x0 */
    L1_image_2_y0, /* y0 */
  },
};

/* --- hidden */
__attribute__((aligned(16))) static const struct bundle_1 bundle_1 = {
  /* Step 3: conv2d hidden, neureka, 3x3 */
  .step_3 = {
    .commands = COMMANDS(bundle_1, 3, 0),
    .control = WAIT_JOB(0) | LAYER(layer_hidden),
    NEXT(bundle_1, step_4),
  },
  .step_3_core_0 = {
    SUBMIT(0, neureka_submit_once, bundle_1, job_1),
    END,
  },
  /* Step 4: transfers that nothing overlaps */
  .step_4 = {
    .commands = COMMANDS(bundle_1, 4, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_1, step_5),
  },
  .step_4_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_hidden_raw, L2_hidden), /* result of hidden */
    END,
  },
  /* Step 5: transfers that nothing overlaps */
  .step_5 = {
    .commands = COMMANDS(bundle_1, 5, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_2, step_6),
  },
  .step_5_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(624u, L1_bundle_2, &bundle_2), /* steps and constants of total */
    DMA_LOAD(144u, L1_total_x, L2_hidden), /* for total */
    END,
  },
  .job_1 = {
    .job.weights = TVM_PULP_WEIGHT_OFFSET((uint32_t)tvmgen_classifier_hidden_dense_3x3_packed),
    .job.input = L1_hidden_x - 28u, .job.output = L1_hidden_raw,
    .job.scale = IN_BUNDLE(bundle_1, hidden_scale_constant),
    .job.bias = IN_BUNDLE(bundle_1, hidden_folded_bias_constant),
    .job.shape = POINTER(IN_BUNDLE(bundle_1, job_1) + sizeof(struct neureka_job)),
    .shape.words[NEUREKA_INFEAT_D0] = 4u, .shape.words[NEUREKA_INFEAT_D1] = 24u,
    .shape.words[NEUREKA_OUTFEAT_D0] = 32u, .shape.words[NEUREKA_OUTFEAT_D1] = 4u,
    .shape.words[NEUREKA_OUTFEAT_D2] = 24u, .shape.words[NEUREKA_WEIGHTS_D0] = 32u,
    .shape.words[NEUREKA_WEIGHTS_D1] = 128u,
    .shape.words[NEUREKA_SUBTILE_REM0] = 0x40004u /* 4 output channels, 4 input channels */,
    .shape.words[NEUREKA_SUBTILE_REM1] = 0x60006u /* 6 output rows, 6 output columns */,
    .shape.words[NEUREKA_SUBTILE_REM2] = 0x70007u /* 7 input rows, 7 input columns */,
    .shape.words[NEUREKA_SUBTILE_NB0] = 0x10001u /* 1 output channel tiles, 1 input channel tiles */,
    .shape.words[NEUREKA_SUBTILE_NB1] = 0x10001u /* 1 row tiles, 1 column tiles */,
    .shape.words[NEUREKA_PADDING] = 0x11110000u /* 1 top, 1 right, 1 bottom, 1 left, value 0 */,
    .shape.words[NEUREKA_WEIGHT_OFFSET] = 0xfffffff8u,
    .shape.words[NEUREKA_CONFIG0] = 0x20a8613u /* dense_3x3, 4-bit weights, 8-bit outputs, weight memory, prefetch, 8-bit scales, shift 10, bias, relu */,
  },
  .hidden_scale_constant = {BUNDLE_1_HIDDEN_SCALE_CONSTANT}, /* uint8[4] */
  .hidden_folded_bias_constant = {BUNDLE_1_HIDDEN_FOLDED_BIAS_CONSTANT}, /* int32[4] */
};

/* --- total */
__attribute__((aligned(16))) static const struct bundle_2 bundle_2 = {
  /* Step 6: conv2d+add total, neureka, 1x1 and 3x3, summed by 1x1 */
  .step_6 = {
    .commands = COMMANDS(bundle_2, 6, 0),
    .control = LAYER(layer_total),
    NEXT(bundle_2, step_7),
  },
  .step_6_core_0 = {
    SUBMIT(0, neureka_submit_once, bundle_2, job_2),
    END,
  },
  /* Step 7: conv2d+add total, neureka, 1x1 and 3x3, summed by 1x1 */
  .step_7 = {
    .commands = COMMANDS(bundle_2, 7, 0),
    NEXT(bundle_2, step_8),
  },
  .step_7_core_0 = {
    SUBMIT(1, neureka_submit_changed, bundle_2, job_3),
    END,
  },
  /* Step 8: conv2d+add total, neureka, 1x1 and 3x3, summed by 1x1 */
  .step_8 = {
    .commands = COMMANDS(bundle_2, 8, 0),
    .control = WAIT_JOB(0),
    NEXT(bundle_2, step_9),
  },
  .step_8_core_0 = {
    SUBMIT(0, neureka_submit_changed, bundle_2, job_4),
    END,
  },
  /* Step 9: transfers that nothing overlaps */
  .step_9 = {
    .commands = COMMANDS(bundle_2, 9, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_2, step_10),
  },
  .step_9_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_total_y, L2_total), /* result of total */
    END,
  },
  /* Step 10: transfers that nothing overlaps */
  .step_10 = {
    .commands = COMMANDS(bundle_2, 10, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_3, step_11),
  },
  .step_10_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(140u, L1_bundle_3, &bundle_3), /* steps and constants of pool */
    DMA_LOAD(144u, L1_pool_x0, L2_total), /* for pool */
    END,
  },
  .job_2 = {
    .job.weights = TVM_PULP_WEIGHT_OFFSET((uint32_t)tvmgen_classifier_total_requant_a_pointwise_packed),
    .job.input = L1_total_x, .job.output = L1_total_pair,
    .job.scale = IN_BUNDLE(bundle_2, total_requant_a_scale_constant),
    .job.bias = IN_BUNDLE(bundle_2, total_requant_a_folded_bias_constant),
    .job.shape = POINTER(IN_BUNDLE(bundle_2, job_2) + sizeof(struct neureka_job)),
    .shape.words[NEUREKA_INFEAT_D0] = 4u, .shape.words[NEUREKA_INFEAT_D1] = 24u,
    .shape.words[NEUREKA_OUTFEAT_D0] = 32u, .shape.words[NEUREKA_OUTFEAT_D1] = 8u,
    .shape.words[NEUREKA_OUTFEAT_D2] = 48u, .shape.words[NEUREKA_WEIGHTS_D0] = 32u,
    .shape.words[NEUREKA_WEIGHTS_D1] = 32u,
    .shape.words[NEUREKA_SUBTILE_REM0] = 0x40004u /* 4 output channels, 4 input channels */,
    .shape.words[NEUREKA_SUBTILE_REM1] = 0x60006u /* 6 output rows, 6 output columns */,
    .shape.words[NEUREKA_SUBTILE_REM2] = 0x60006u /* 6 input rows, 6 input columns */,
    .shape.words[NEUREKA_SUBTILE_NB0] = 0x10001u /* 1 output channel tiles, 1 input channel tiles */,
    .shape.words[NEUREKA_SUBTILE_NB1] = 0x10001u /* 1 row tiles, 1 column tiles */,
    .shape.words[NEUREKA_CONFIG0] = 0x2008657u /* pointwise, 8-bit weights, 8-bit outputs, weight memory, prefetch, 8-bit scales, shift 0, bias, relu */,
  },
  .job_3 = {
    .weights = TVM_PULP_WEIGHT_OFFSET((uint32_t)tvmgen_classifier_hidden2_dense_3x3_packed),
    .input = L1_total_x - 28u, .output = L1_total_pair + 4u, .scale = IN_BUNDLE(bundle_2, hidden2_scale_constant),
    .bias = IN_BUNDLE(bundle_2, hidden2_folded_bias_constant), .count = 2,
    .changes[0] = {NEUREKA_SHAPE_REGISTER(NEUREKA_OUTFEAT_D1), 8u},
    .changes[1] = {NEUREKA_SHAPE_REGISTER(NEUREKA_OUTFEAT_D2), 48u},
  },
  .job_4 = {
    .weights = TVM_PULP_WEIGHT_OFFSET((uint32_t)tvmgen_classifier_total_sum_pointwise_packed), .input = L1_total_pair,
    .output = L1_total_y, .scale = IN_BUNDLE(bundle_2, total_sum_scale_constant),
    .bias = IN_BUNDLE(bundle_2, total_sum_folded_bias_constant), .count = 6,
    .changes[0] = {NEUREKA_SHAPE_REGISTER(NEUREKA_INFEAT_D0), 8u},
    .changes[1] = {NEUREKA_SHAPE_REGISTER(NEUREKA_INFEAT_D1), 48u},
    .changes[2] = {NEUREKA_SHAPE_REGISTER(NEUREKA_OUTFEAT_D1), 4u},
    .changes[3] = {NEUREKA_SHAPE_REGISTER(NEUREKA_OUTFEAT_D2), 24u},
    .changes[4] = {NEUREKA_SHAPE_REGISTER(NEUREKA_SUBTILE_REM0), 0x40008u} /* 4 output channels, 8 input channels */,
    .changes[5] = {NEUREKA_SHAPE_REGISTER(NEUREKA_CONFIG0), 0x2018657u} /* pointwise, 8-bit weights, 8-bit outputs, weight memory, prefetch, 8-bit scales, shift 1, bias, relu */,
  },
  .total_requant_a_scale_constant = {BUNDLE_2_TOTAL_REQUANT_A_SCALE_CONSTANT}, /* uint8[4] */
  .total_requant_a_folded_bias_constant = {BUNDLE_2_TOTAL_REQUANT_A_FOLDED_BIAS_CONSTANT}, /* int32[4] */
  .hidden2_scale_constant = {BUNDLE_2_HIDDEN2_SCALE_CONSTANT}, /* uint8[4] */
  .hidden2_folded_bias_constant = {BUNDLE_2_HIDDEN2_FOLDED_BIAS_CONSTANT}, /* int32[4] */
  .total_sum_scale_constant = {BUNDLE_2_TOTAL_SUM_SCALE_CONSTANT}, /* uint8[4] */
  .total_sum_folded_bias_constant = {BUNDLE_2_TOTAL_SUM_FOLDED_BIAS_CONSTANT}, /* int32[4] */
};

/* --- pool */
__attribute__((aligned(16))) static const struct bundle_3 bundle_3 = {
  /* Step 11: max_pool pool, cluster, tiled */
  .step_11 = {
    KERNEL(call_tvmgen_classifier_max_pool, bundle_3, operands_5),
    .control = BARRIER | LAYER(layer_pool),
    NEXT(bundle_3, step_12),
  },
  /* Step 12: transfers that nothing overlaps */
  .step_12 = {
    .commands = COMMANDS(bundle_3, 12, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_3, step_13),
  },
  .step_12_core_0 = {
    TRANSFERS(0),
    DMA_STORE(36u, L1_pool_y0, L2_pool), /* result of pool */
    END,
  },
  /* Step 13: transfers that nothing overlaps */
  .step_13 = {
    .commands = COMMANDS(bundle_3, 13, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_4, step_14),
  },
  .step_13_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(140u, L1_bundle_4, &bundle_4), /* steps and constants of mean */
    DMA_LOAD(36u, L1_mean_x0, L2_pool), /* for mean */
    END,
  },
  .operands_5 = {
    L1_pool_x0, /* x0 */
    L1_pool_y0, /* y0 */
  },
};

/* --- mean */
__attribute__((aligned(16))) static const struct bundle_4 bundle_4 = {
  /* Step 14: reduce mean, cluster, tiled */
  .step_14 = {
    KERNEL(call_tvmgen_classifier_reduce, bundle_4, operands_6),
    .control = BARRIER | LAYER(layer_mean),
    NEXT(bundle_4, step_15),
  },
  /* Step 15: transfers that nothing overlaps */
  .step_15 = {
    .commands = COMMANDS(bundle_4, 15, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_4, step_16),
  },
  .step_15_core_0 = {
    TRANSFERS(0),
    DMA_STORE(4u, L1_mean_y0, L2_mean), /* result of mean */
    END,
  },
  /* Step 16: transfers that nothing overlaps */
  .step_16 = {
    .commands = COMMANDS(bundle_4, 16, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_5, step_17),
  },
  .step_16_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(236u, L1_bundle_5, &bundle_5), /* steps and constants of classes */
    DMA_LOAD(4u, L1_classes_x, L2_mean), /* for classes */
    END,
  },
  .operands_6 = {
    L1_mean_x0, /* x0 */
    L1_mean_y0, /* y0 */
  },
};

/* --- classes */
__attribute__((aligned(16))) static const struct bundle_5 bundle_5 = {
  /* Step 17: dense classes, neureka, 1x1 over rows */
  .step_17 = {
    .commands = COMMANDS(bundle_5, 17, 0),
    .control = WAIT_JOB(0) | LAYER(layer_classes),
    NEXT(bundle_5, step_18),
  },
  .step_17_core_0 = {
    SUBMIT(0, neureka_submit_once, bundle_5, job_7),
    END,
  },
  /* Step 18: the end */
  .step_18 = {
    .commands = COMMANDS(bundle_5, 18, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_5, step_19),
  },
  .step_18_core_0 = {
    TRANSFERS(0),
    DMA_STORE_OF(BASE_classes, 3u, L1_classes_raw, 0u), /* result of classes */
    END,
  },
  /* Step 19: the end */
  .step_19 = {
    .control = LAYER(6),
  },
  .job_7 = {
    .job.weights = TVM_PULP_WEIGHT_OFFSET((uint32_t)tvmgen_classifier_classes_pointwise_packed),
    .job.input = L1_classes_x, .job.output = L1_classes_raw, .job.scale = IN_BUNDLE(bundle_5, classes_scale_constant),
    .job.bias = IN_BUNDLE(bundle_5, classes_folded_bias_constant),
    .job.shape = POINTER(IN_BUNDLE(bundle_5, job_7) + sizeof(struct neureka_job)),
    .shape.words[NEUREKA_INFEAT_D0] = 4u, .shape.words[NEUREKA_INFEAT_D1] = 4u,
    .shape.words[NEUREKA_OUTFEAT_D0] = 32u, .shape.words[NEUREKA_OUTFEAT_D1] = 3u,
    .shape.words[NEUREKA_OUTFEAT_D2] = 3u, .shape.words[NEUREKA_WEIGHTS_D0] = 32u,
    .shape.words[NEUREKA_WEIGHTS_D1] = 32u,
    .shape.words[NEUREKA_SUBTILE_REM0] = 0x30004u /* 3 output channels, 4 input channels */,
    .shape.words[NEUREKA_SUBTILE_REM1] = 0x10001u /* 1 output rows, 1 output columns */,
    .shape.words[NEUREKA_SUBTILE_REM2] = 0x10001u /* 1 input rows, 1 input columns */,
    .shape.words[NEUREKA_SUBTILE_NB0] = 0x10001u /* 1 output channel tiles, 1 input channel tiles */,
    .shape.words[NEUREKA_SUBTILE_NB1] = 0x10001u /* 1 row tiles, 1 column tiles */,
    .shape.words[NEUREKA_WEIGHT_OFFSET] = 0xffffff9du,
    .shape.words[NEUREKA_CONFIG0] = 0x2888657u /* pointwise, 8-bit weights, 8-bit outputs, weight memory, prefetch, 8-bit scales, shift 8, bias */,
  },
  .classes_scale_constant = {BUNDLE_5_CLASSES_SCALE_CONSTANT}, /* uint8[3] */
  .classes_folded_bias_constant = {BUNDLE_5_CLASSES_FOLDED_BIAS_CONSTANT}, /* int32[3] */
};

static void wait_for_job(uint32_t submitted, uint32_t number) {
  (void)number;
  neureka_wait(submitted);
}

_Static_assert(TVMGEN_CLASSIFIER_L1_BYTES <= TVM_PULP_L1_ARENA_BYTES, "the network needs more L1 than is left");

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  if (!tvm_pulp_can_execute(TVMGEN_CLASSIFIER_L1_BYTES)) return TVMGEN_CLASSIFIER_WRONG_RUNTIME;
  if (tvm_pulp_is_agent()) {
    bases[BASE_image] = (uint32_t)(uintptr_t)inputs->image;
    bases[BASE_classes] = (uint32_t)(uintptr_t)outputs->classes;
    const uint32_t group = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(POINTER(L1_bundle_0), &bundle_0, 140); /* steps and constants of image_2 */
    tvm_pulp_dma_load(POINTER(L1_image_2_x0), POINTER(bases[BASE_image] + 0u), 144); /* for image_2 */
    tvm_pulp_dma_wait(group);
  }
  tvm_pulp_barrier();
  tvm_pulp_execute((const struct tvm_pulp_step *)POINTER(IN_BUNDLE(bundle_0, step_0)), bases, wait_for_job);
  return TVMGEN_CLASSIFIER_OK;
}
