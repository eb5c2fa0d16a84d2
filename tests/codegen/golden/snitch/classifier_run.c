#include "tvmgen_classifier.h"

#include "tvm_pulp/steps.h"
#include "classifier_kernels.h"
#include "classifier_weights.h"
#include "classifier_bundle_weights.h"

/* Where the caller keeps inputs and outputs. */
enum { BASE_image, BASE_classes };
TVM_PULP_IN_L2 static uint32_t bases[2];

/* Activations in L2; the largest set alive at once is 288 bytes. */
TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[288];
#define L2_image_2 ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_hidden ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_hidden2 ((uint32_t)arena + 144u) /* uint8[1, 6, 6, 4] */
#define L2_total ((uint32_t)arena + 0u) /* uint8[1, 6, 6, 4] */
#define L2_pool ((uint32_t)arena + 0u) /* uint8[1, 3, 3, 4] */
#define L2_mean ((uint32_t)arena + 0u) /* uint8[1, 4] */

/* What lies in L1, one after the other where places are the same. */
#define L1_bundle_0 L1(688u) /* 140 bytes */
#define L1_image_2_x0 L1(0u) /* 144 bytes */
#define L1_image_2_y0 L1(144u) /* 144 bytes */
#define L1_bundle_1 L1(352u) /* 336 bytes */
#define L1_hidden_x0 L1(0u) /* 144 bytes */
#define L1_hidden_y0 L1(144u) /* 144 bytes */
#define L1_bundle_2 L1(0u) /* 352 bytes */
#define L1_hidden2_x0 L1(688u) /* 144 bytes */
#define L1_hidden2_y0 L1(352u) /* 144 bytes */
#define L1_bundle_3 L1(352u) /* 164 bytes */
#define L1_total_x0 L1(528u) /* 144 bytes */
#define L1_total_x1 L1(672u) /* 144 bytes */
#define L1_total_y0 L1(0u) /* 144 bytes */
#define L1_bundle_4 L1(144u) /* 140 bytes */
#define L1_pool_x0 L1(0u) /* 144 bytes */
#define L1_pool_y0 L1(288u) /* 36 bytes */
#define L1_bundle_5 L1(288u) /* 140 bytes */
#define L1_mean_x0 L1(0u) /* 36 bytes */
#define L1_mean_y0 L1(48u) /* 4 bytes */
#define L1_bundle_6 L1(0u) /* 180 bytes */
#define L1_classes_x0 L1(192u) /* 4 bytes */
#define L1_classes_y0 L1(208u) /* 3 bytes */

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
 * transpose: image uint8[1, 4, 6, 6] -> image_2 uint8[1, 6, 6, 4] (of hidden_acc)
 *   cluster, tiled, 1 tile of 1x6x6x4, about 1083 cycles
 * conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4] (of hidden_acc, hidden)
 *   cluster, tiled, 1 tile of 1x6x6x4, about 8908 cycles
 * conv2d: hidden uint8[1, 6, 6, 4] -> hidden2 uint8[1, 6, 6, 4] (of hidden2_acc, hidden2)
 *   cluster, tiled, 1 tile of 1x6x6x4, about 8934 cycles
 * add: hidden uint8[1, 6, 6, 4], hidden2 uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4] (of sum_acc, total)
 *   cluster, tiled, 1 tile of 1x6x6x4, about 988 cycles
 * max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4]
 *   cluster, tiled, 1 tile of 1x3x3x4, about 898 cycles
 * reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4]
 *   cluster, tiled, 1 tile of 1x4, about 661 cycles
 * dense: mean uint8[1, 4] -> classes int8[1, 3] (of dense_acc, classes)
 *   cluster, tiled, 1 tile of 1x3, about 601 cycles
 */
/* Marks of the layers: core 0 writes tvm_pulp_marks[layer_NAME] when one begins. */
enum {
  layer_image_2,
  layer_hidden,
  layer_hidden2,
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
  struct tvm_pulp_step step_4;
  uint32_t step_4_core_0[5];
  struct tvm_pulp_step step_5;
  uint32_t step_5_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_1[5];
  uint32_t unused_7[2];
  uint32_t hidden_weight_constant[36];
  uint32_t hidden_mul_constant[4];
  uint32_t hidden_add_constant[4];
};
_Static_assert(sizeof(struct bundle_1) == 336, "as planned");

struct bundle_2 { /* hidden2 */
  struct tvm_pulp_step step_6;
  struct tvm_pulp_step step_7;
  uint32_t step_7_core_0[5];
  struct tvm_pulp_step step_8;
  uint32_t step_8_core_0[11];
  uint32_t unused_5[4];
  uint32_t operands_2[5];
  uint32_t unused_7[1];
  uint32_t hidden2_weight_constant[36];
  uint32_t hidden2_mul_constant[4];
  uint32_t hidden_add_constant[4];
};
_Static_assert(sizeof(struct bundle_2) == 352, "as planned");

struct bundle_3 { /* total */
  struct tvm_pulp_step step_9;
  struct tvm_pulp_step step_10;
  uint32_t step_10_core_0[5];
  struct tvm_pulp_step step_11;
  uint32_t step_11_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_3[5];
  uint32_t unused_7[2];
  uint32_t total_mul_constant[1];
};
_Static_assert(sizeof(struct bundle_3) == 164, "as planned");

struct bundle_4 { /* pool */
  struct tvm_pulp_step step_12;
  struct tvm_pulp_step step_13;
  uint32_t step_13_core_0[5];
  struct tvm_pulp_step step_14;
  uint32_t step_14_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_4[2];
};
_Static_assert(sizeof(struct bundle_4) == 140, "as planned");

struct bundle_5 { /* mean */
  struct tvm_pulp_step step_15;
  struct tvm_pulp_step step_16;
  uint32_t step_16_core_0[5];
  struct tvm_pulp_step step_17;
  uint32_t step_17_core_0[8];
  uint32_t unused_5[2];
  uint32_t operands_5[2];
};
_Static_assert(sizeof(struct bundle_5) == 140, "as planned");

struct bundle_6 { /* classes */
  struct tvm_pulp_step step_18;
  struct tvm_pulp_step step_19;
  uint32_t step_19_core_0[5];
  struct tvm_pulp_step step_20;
  uint32_t operands_6[6];
  uint32_t unused_5[3];
  uint32_t classes_weight_constant[3];
  uint32_t unused_7[1];
  uint32_t classes_bias_constant[3];
  uint32_t unused_9[1];
  uint32_t classes_mul_constant[1];
  uint32_t unused_11[3];
  uint32_t classes_add_constant[1];
};
_Static_assert(sizeof(struct bundle_6) == 180, "as planned");

static const struct bundle_0 bundle_0;
static const struct bundle_1 bundle_1;
static const struct bundle_2 bundle_2;
static const struct bundle_3 bundle_3;
static const struct bundle_4 bundle_4;
static const struct bundle_5 bundle_5;
static const struct bundle_6 bundle_6;

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
    DMA_LOAD(336u, L1_bundle_1, &bundle_1), /* steps and constants of hidden */
    DMA_LOAD(144u, L1_hidden_x0, L2_image_2), /* for hidden */
    END,
  },
  .operands_0 = {
    L1_image_2_x0, /* x0 */
    L1_image_2_y0, /* y0 */
  },
};

/* --- hidden */
__attribute__((aligned(16))) static const struct bundle_1 bundle_1 = {
  /* Step 3: conv2d hidden, cluster, tiled */
  .step_3 = {
    KERNEL(call_tvmgen_classifier_conv2d, bundle_1, operands_1),
    .control = BARRIER | LAYER(layer_hidden),
    NEXT(bundle_1, step_4),
  },
  /* Step 4: transfers that nothing overlaps */
  .step_4 = {
    .commands = COMMANDS(bundle_1, 4, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_1, step_5),
  },
  .step_4_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_hidden_y0, L2_hidden), /* result of hidden */
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
    DMA_LOAD(352u, L1_bundle_2, &bundle_2), /* steps and constants of hidden2 */
    DMA_LOAD(144u, L1_hidden2_x0, L2_hidden), /* for hidden2 */
    END,
  },
  .operands_1 = {
    L1_hidden_x0, /* x0 */
    IN_BUNDLE(bundle_1, hidden_weight_constant), /* x1 */
    IN_BUNDLE(bundle_1, hidden_mul_constant), /* x2 */
    IN_BUNDLE(bundle_1, hidden_add_constant), /* x3 */
    L1_hidden_y0, /* y0 */
  },
  .hidden_weight_constant = {BUNDLE_1_HIDDEN_WEIGHT_CONSTANT}, /* int8[4, 3, 3, 4] */
  .hidden_mul_constant = {BUNDLE_1_HIDDEN_MUL_CONSTANT}, /* int32[4] */
  .hidden_add_constant = {BUNDLE_1_HIDDEN_ADD_CONSTANT}, /* int32[4] */
};

/* --- hidden2 */
__attribute__((aligned(16))) static const struct bundle_2 bundle_2 = {
  /* Step 6: conv2d hidden2, cluster, tiled */
  .step_6 = {
    KERNEL(call_tvmgen_classifier_conv2d, bundle_2, operands_2),
    .control = BARRIER | LAYER(layer_hidden2),
    NEXT(bundle_2, step_7),
  },
  /* Step 7: transfers that nothing overlaps */
  .step_7 = {
    .commands = COMMANDS(bundle_2, 7, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_2, step_8),
  },
  .step_7_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_hidden2_y0, L2_hidden2), /* result of hidden2 */
    END,
  },
  /* Step 8: transfers that nothing overlaps */
  .step_8 = {
    .commands = COMMANDS(bundle_2, 8, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_3, step_9),
  },
  .step_8_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(164u, L1_bundle_3, &bundle_3), /* steps and constants of total */
    DMA_LOAD(144u, L1_total_x0, L2_hidden), /* for total */
    DMA_LOAD(144u, L1_total_x1, L2_hidden2), /* for total */
    END,
  },
  .operands_2 = {
    L1_hidden2_x0, /* x0 */
    IN_BUNDLE(bundle_2, hidden2_weight_constant), /* x1 */
    IN_BUNDLE(bundle_2, hidden2_mul_constant), /* x2 */
    IN_BUNDLE(bundle_2, hidden_add_constant), /* x3 */
    L1_hidden2_y0, /* y0 */
  },
  .hidden2_weight_constant = {BUNDLE_2_HIDDEN2_WEIGHT_CONSTANT}, /* int8[4, 3, 3, 4] */
  .hidden2_mul_constant = {BUNDLE_2_HIDDEN2_MUL_CONSTANT}, /* int32[4] */
  .hidden_add_constant = {BUNDLE_2_HIDDEN_ADD_CONSTANT}, /* int32[4] */
};

/* --- total */
__attribute__((aligned(16))) static const struct bundle_3 bundle_3 = {
  /* Step 9: add total, cluster, tiled */
  .step_9 = {
    KERNEL(call_tvmgen_classifier_add, bundle_3, operands_3),
    .control = BARRIER | LAYER(layer_total),
    NEXT(bundle_3, step_10),
  },
  /* Step 10: transfers that nothing overlaps */
  .step_10 = {
    .commands = COMMANDS(bundle_3, 10, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_3, step_11),
  },
  .step_10_core_0 = {
    TRANSFERS(0),
    DMA_STORE(144u, L1_total_y0, L2_total), /* result of total */
    END,
  },
  /* Step 11: transfers that nothing overlaps */
  .step_11 = {
    .commands = COMMANDS(bundle_3, 11, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_4, step_12),
  },
  .step_11_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(140u, L1_bundle_4, &bundle_4), /* steps and constants of pool */
    DMA_LOAD(144u, L1_pool_x0, L2_total), /* for pool */
    END,
  },
  .operands_3 = {
    L1_total_x0, /* x0 */
    L1_total_x1, /* x1 */
    IN_BUNDLE(bundle_3, total_mul_constant), /* x2 */
    IN_BUNDLE(bundle_3, total_mul_constant), /* x3 */
    L1_total_y0, /* y0 */
  },
  .total_mul_constant = {BUNDLE_3_TOTAL_MUL_CONSTANT}, /* int32[1] */
};

/* --- pool */
__attribute__((aligned(16))) static const struct bundle_4 bundle_4 = {
  /* Step 12: max_pool pool, cluster, tiled */
  .step_12 = {
    KERNEL(call_tvmgen_classifier_max_pool, bundle_4, operands_4),
    .control = BARRIER | LAYER(layer_pool),
    NEXT(bundle_4, step_13),
  },
  /* Step 13: transfers that nothing overlaps */
  .step_13 = {
    .commands = COMMANDS(bundle_4, 13, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_4, step_14),
  },
  .step_13_core_0 = {
    TRANSFERS(0),
    DMA_STORE(36u, L1_pool_y0, L2_pool), /* result of pool */
    END,
  },
  /* Step 14: transfers that nothing overlaps */
  .step_14 = {
    .commands = COMMANDS(bundle_4, 14, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_5, step_15),
  },
  .step_14_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(140u, L1_bundle_5, &bundle_5), /* steps and constants of mean */
    DMA_LOAD(36u, L1_mean_x0, L2_pool), /* for mean */
    END,
  },
  .operands_4 = {
    L1_pool_x0, /* x0 */
    L1_pool_y0, /* y0 */
  },
};

/* --- mean */
__attribute__((aligned(16))) static const struct bundle_5 bundle_5 = {
  /* Step 15: reduce mean, cluster, tiled */
  .step_15 = {
    KERNEL(call_tvmgen_classifier_reduce, bundle_5, operands_5),
    .control = BARRIER | LAYER(layer_mean),
    NEXT(bundle_5, step_16),
  },
  /* Step 16: transfers that nothing overlaps */
  .step_16 = {
    .commands = COMMANDS(bundle_5, 16, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    NEXT(bundle_5, step_17),
  },
  .step_16_core_0 = {
    TRANSFERS(0),
    DMA_STORE(4u, L1_mean_y0, L2_mean), /* result of mean */
    END,
  },
  /* Step 17: transfers that nothing overlaps */
  .step_17 = {
    .commands = COMMANDS(bundle_5, 17, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_6, step_18),
  },
  .step_17_core_0 = {
    TRANSFERS(0),
    DMA_LOAD(180u, L1_bundle_6, &bundle_6), /* steps and constants of classes */
    DMA_LOAD(4u, L1_classes_x0, L2_mean), /* for classes */
    END,
  },
  .operands_5 = {
    L1_mean_x0, /* x0 */
    L1_mean_y0, /* y0 */
  },
};

/* --- classes */
__attribute__((aligned(16))) static const struct bundle_6 bundle_6 = {
  /* Step 18: dense classes, cluster, tiled */
  .step_18 = {
    KERNEL(call_tvmgen_classifier_dense, bundle_6, operands_6),
    .control = BARRIER | LAYER(layer_classes),
    NEXT(bundle_6, step_19),
  },
  /* Step 19: the end */
  .step_19 = {
    .commands = COMMANDS(bundle_6, 19, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_6, step_20),
  },
  .step_19_core_0 = {
    TRANSFERS(0),
    DMA_STORE_OF(BASE_classes, 3u, L1_classes_y0, 0u), /* result of classes */
    END,
  },
  /* Step 20: the end */
  .step_20 = {
    .control = LAYER(7),
  },
  .operands_6 = {
    L1_classes_x0, /* x0 */
    IN_BUNDLE(bundle_6, classes_weight_constant), /* x1 */
    IN_BUNDLE(bundle_6, classes_bias_constant), /* x2 */
    IN_BUNDLE(bundle_6, classes_mul_constant), /* x3 */
    IN_BUNDLE(bundle_6, classes_add_constant), /* x4 */
    L1_classes_y0, /* y0 */
  },
  .classes_weight_constant = {BUNDLE_6_CLASSES_WEIGHT_CONSTANT}, /* int8[3, 4] */
  .classes_bias_constant = {BUNDLE_6_CLASSES_BIAS_CONSTANT}, /* int32[3] */
  .classes_mul_constant = {BUNDLE_6_CLASSES_MUL_CONSTANT}, /* int32[1] */
  .classes_add_constant = {BUNDLE_6_CLASSES_ADD_CONSTANT}, /* int32[1] */
};

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
  tvm_pulp_execute((const struct tvm_pulp_step *)POINTER(IN_BUNDLE(bundle_0, step_0)), bases, 0);
  return TVMGEN_CLASSIFIER_OK;
}
