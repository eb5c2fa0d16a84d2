#include "tvmgen_classifier.h"

#include "tvm_pulp/steps.h"
#include "ita.h"
#include "classifier_kernels.h"
#include "classifier_weights.h"
#include "classifier_bundle_weights.h"

/* Where the caller keeps inputs and outputs. */
enum { BASE_tokens, BASE_mixed };
TVM_PULP_IN_L2 static uint32_t bases[2];

/* What lies in L1, one after the other where places are the same. */
#define L1_bundle_0 L1(0u) /* 4512 bytes */
#define L1_mixed_x0 L1(4512u) /* 4096 bytes */
#define L1_mixed_y0 L1(8608u) /* 4096 bytes */

/* Layers in order:
 * dense: tokens int8[64, 64] -> mixed int8[64, 64] (of mix_acc, mixed)
 *   ita, linear, 1 tile of 64x64, about 2089 cycles
 */
/* Marks of the layers: core 0 writes tvm_pulp_marks[layer_NAME] when one begins. */
enum {
  layer_mixed,
};

struct bundle_0 { /* mixed */
  struct tvm_pulp_step step_0;
  uint32_t step_0_core_0[4];
  struct tvm_pulp_step step_1;
  uint32_t step_1_core_0[5];
  struct tvm_pulp_step step_2;
  uint32_t job_0[21];
  uint32_t mixed_ita_weights_constant[1024];
  uint32_t mixed_ita_bias_constant[48];
};
_Static_assert(sizeof(struct bundle_0) == 4480, "as planned");

static const struct bundle_0 bundle_0;

/* --- mixed */
__attribute__((aligned(16))) static const struct bundle_0 bundle_0 = {
  /* Step 0: dense mixed, ita, linear */
  .step_0 = {
    .commands = COMMANDS(bundle_0, 0, 0),
    .control = WAIT_JOB(0) | LAYER(layer_mixed),
    NEXT(bundle_0, step_1),
  },
  .step_0_core_0 = {
    SUBMIT(0, ita_submit, bundle_0, job_0),
    END,
  },
  /* Step 1: the end */
  .step_1 = {
    .commands = COMMANDS(bundle_0, 1, 0),
    .waits = WAIT_TRANSFERS(0, 0),
    .control = BARRIER,
    NEXT(bundle_0, step_2),
  },
  .step_1_core_0 = {
    TRANSFERS(0),
    DMA_STORE_OF(BASE_mixed, 4096u, L1_mixed_y0, 0u), /* result of mixed */
    END,
  },
  /* Step 2: the end */
  .step_2 = {
    .control = LAYER(1),
  },
  .job_0 = {
    66048u /* product, no activation, bias by column */, 1u /* rows */, 1u /* columns */, 1u /* inner */,
    4096u /* bytes between left panels */, 4096u /* bytes between right panels */,
    IN_BUNDLE(bundle_0, mixed_ita_bias_constant) - 268435456u /* bias */, 0u /* tiles before the first jobs */,
    106168320u /* sums in contexts behind it */, 61713u /* tiles s 1, e 1, p 1, f 15 */, 3u /* multipliers: q 3 */,
    0u, 12u /* shifts: q 12 */, 0u, 0u /* adds: q 0 */, 0u, 0u, 0u, L1_mixed_x0 - 268435456u,
    IN_BUNDLE(bundle_0, mixed_ita_weights_constant) - 268435456u, L1_mixed_y0 - 268435456u,
  },
  .mixed_ita_weights_constant = {BUNDLE_0_MIXED_ITA_WEIGHTS_CONSTANT}, /* int8[1, 4096] */
  .mixed_ita_bias_constant = {BUNDLE_0_MIXED_ITA_BIAS_CONSTANT}, /* uint8[1, 192] */
};

static void wait_for_job(uint32_t submitted, uint32_t number) {
  (void)number;
  ita_wait(submitted);
}

_Static_assert(TVMGEN_CLASSIFIER_L1_BYTES <= TVM_PULP_L1_ARENA_BYTES, "the network needs more L1 than is left");

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  if (!tvm_pulp_can_execute(TVMGEN_CLASSIFIER_L1_BYTES)) return TVMGEN_CLASSIFIER_WRONG_RUNTIME;
  if (tvm_pulp_is_agent()) {
    bases[BASE_tokens] = (uint32_t)(uintptr_t)inputs->tokens;
    bases[BASE_mixed] = (uint32_t)(uintptr_t)outputs->mixed;
    const uint32_t group = tvm_pulp_dma_begin();
    tvm_pulp_dma_load(POINTER(L1_bundle_0), &bundle_0, 4480); /* steps and constants of mixed */
    tvm_pulp_dma_load(POINTER(L1_mixed_x0), POINTER(bases[BASE_tokens] + 0u), 4096); /* for mixed */
    tvm_pulp_dma_wait(group);
  }
  tvm_pulp_barrier();
  tvm_pulp_execute((const struct tvm_pulp_step *)POINTER(IN_BUNDLE(bundle_0, step_0)), bases, wait_for_job);
  return TVMGEN_CLASSIFIER_OK;
}
