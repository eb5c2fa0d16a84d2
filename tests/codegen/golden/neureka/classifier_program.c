#include "tvmgen_classifier.h"

#include "tvm_pulp/hal.h"

#include "neureka.h"

TVM_PULP_IN_L2 __attribute__((aligned(16))) uint8_t tvmgen_classifier_inputs_image[144];

TVM_PULP_IN_L2 __attribute__((aligned(16))) int8_t tvmgen_classifier_outputs_classes[3];

const struct tvm_pulp_symbol tvm_pulp_symbols[] = {
    {"tvmgen_classifier_inputs_image", tvmgen_classifier_inputs_image, sizeof tvmgen_classifier_inputs_image},
    {"tvmgen_classifier_outputs_classes", tvmgen_classifier_outputs_classes, sizeof tvmgen_classifier_outputs_classes},
    {0, 0, 0},
};

const uint32_t tvm_pulp_mark_count = 7;

void tvm_pulp_network(void) {
  const struct tvmgen_classifier_inputs inputs = {tvmgen_classifier_inputs_image};
  const struct tvmgen_classifier_outputs outputs = {tvmgen_classifier_outputs_classes};
  if (tvm_pulp_is_agent()) { neureka_init(); }
  if (tvmgen_classifier_run(&inputs, &outputs) != TVMGEN_CLASSIFIER_OK) tvm_pulp_refused = 1;
}
