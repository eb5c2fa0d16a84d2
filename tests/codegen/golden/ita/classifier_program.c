#include "tvmgen_classifier.h"

#include "tvm_pulp/hal.h"

#include "ita.h"

TVM_PULP_IN_L2 __attribute__((aligned(16))) int8_t tvmgen_classifier_inputs_tokens[4096];

TVM_PULP_IN_L2 __attribute__((aligned(16))) int8_t tvmgen_classifier_outputs_mixed[4096];

const struct tvm_pulp_symbol tvm_pulp_symbols[] = {
    {"tvmgen_classifier_inputs_tokens", tvmgen_classifier_inputs_tokens, sizeof tvmgen_classifier_inputs_tokens},
    {"tvmgen_classifier_outputs_mixed", tvmgen_classifier_outputs_mixed, sizeof tvmgen_classifier_outputs_mixed},
    {0, 0, 0},
};

const uint32_t tvm_pulp_mark_count = 2;

void tvm_pulp_network(void) {
  const struct tvmgen_classifier_inputs inputs = {tvmgen_classifier_inputs_tokens};
  const struct tvmgen_classifier_outputs outputs = {tvmgen_classifier_outputs_mixed};
  if (tvm_pulp_is_agent()) { ita_init(); }
  if (tvmgen_classifier_run(&inputs, &outputs) != TVMGEN_CLASSIFIER_OK) tvm_pulp_refused = 1;
}
