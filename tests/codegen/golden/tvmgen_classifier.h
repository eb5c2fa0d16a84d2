/* Interface of the network classifier.
 * Call tvmgen_*_run as often as you like: it keeps no state. */
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

/* Returns 0. */
int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif /* TVMGEN_CLASSIFIER_H */
