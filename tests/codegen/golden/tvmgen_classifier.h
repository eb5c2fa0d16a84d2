/* Interface of the network classifier.
 *
 * Call tvmgen_classifier_run as often as you like: it keeps no state; one call at a time, because it works in memory
 * of its own. Inputs and outputs may lie anywhere and must not overlap; outputs are written in full. */
#ifndef TVMGEN_CLASSIFIER_H
#define TVMGEN_CLASSIFIER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tvmgen_classifier_inputs {
  const uint8_t *image; /* uint8[1, 4, 6, 6] "image" */
};

struct tvmgen_classifier_outputs {
  int8_t *classes; /* int8[1, 3] "classes" */
};

/* Bytes of scratch memory inside the module. */
#define TVMGEN_CLASSIFIER_ARENA_BYTES 432

/* Inputs and outputs. real value = scale * (integer - zero point) */
#define TVMGEN_CLASSIFIER_INPUT_IMAGE_ELEMENTS 144
#define TVMGEN_CLASSIFIER_INPUT_IMAGE_BYTES 144
#define TVMGEN_CLASSIFIER_OUTPUT_CLASSES_ELEMENTS 3
#define TVMGEN_CLASSIFIER_OUTPUT_CLASSES_BYTES 3

static inline const uint8_t *tvmgen_classifier_input_image_at(const struct tvmgen_classifier_inputs *inputs, uint32_t i0, uint32_t i1, uint32_t i2, uint32_t i3) {
  return inputs->image + (((i0 * 4u + i1) * 6u + i2) * 6u + i3);
}

static inline int8_t *tvmgen_classifier_output_classes_at(const struct tvmgen_classifier_outputs *outputs, uint32_t i0, uint32_t i1) {
  return outputs->classes + (i0 * 3u + i1);
}

/* What the run function returns. */
enum { TVMGEN_CLASSIFIER_OK = 0 };

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif /* TVMGEN_CLASSIFIER_H */
