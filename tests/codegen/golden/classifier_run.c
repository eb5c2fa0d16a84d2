#include "tvmgen_classifier.h"

#include "classifier_kernels.h"
#include "classifier_weights.h"

/* Activations; the largest set alive at once is 432 bytes. */
__attribute__((aligned(16))) static uint8_t arena[432];

int32_t tvmgen_classifier_run(const struct tvmgen_classifier_inputs *inputs, const struct tvmgen_classifier_outputs *outputs) {
  const uint8_t *image = inputs->image;
  int8_t *classes = outputs->classes;
  uint8_t *image_2 = (arena + 0); /* uint8[1, 6, 6, 4], 144 bytes */
  uint8_t *hidden = (arena + 144); /* uint8[1, 6, 6, 4], 144 bytes */
  uint8_t *hidden2 = (arena + 0); /* uint8[1, 6, 6, 4], 144 bytes */
  uint8_t *total = (arena + 288); /* uint8[1, 6, 6, 4], 144 bytes */
  uint8_t *pool = (arena + 0); /* uint8[1, 3, 3, 4], 36 bytes */
  uint8_t *mean = (arena + 48); /* uint8[1, 4], 4 bytes */

  /* transpose: image uint8[1, 4, 6, 6] -> image_2 uint8[1, 6, 6, 4] (of hidden_acc) */
  tvmgen_classifier_transpose(image, image_2);

  /* conv2d: image_2 uint8[1, 6, 6, 4] -> hidden uint8[1, 6, 6, 4], 5184 MAC (of hidden_acc, hidden) */
  tvmgen_classifier_conv2d(image_2, tvmgen_classifier_hidden_weight, tvmgen_classifier_hidden_mul, tvmgen_classifier_hidden_add, hidden);

  /* conv2d: hidden uint8[1, 6, 6, 4] -> hidden2 uint8[1, 6, 6, 4], 5184 MAC (of hidden2_acc, hidden2) */
  tvmgen_classifier_conv2d(hidden, tvmgen_classifier_hidden2_weight, tvmgen_classifier_hidden2_mul, tvmgen_classifier_hidden_add, hidden2);

  /* add: hidden uint8[1, 6, 6, 4], hidden2 uint8[1, 6, 6, 4] -> total uint8[1, 6, 6, 4] (of sum_acc, total) */
  tvmgen_classifier_add(hidden, hidden2, tvmgen_classifier_total_mul, tvmgen_classifier_total_mul, total);

  /* max_pool: total uint8[1, 6, 6, 4] -> pool uint8[1, 3, 3, 4] */
  tvmgen_classifier_max_pool(total, pool);

  /* reduce: pool uint8[1, 3, 3, 4] -> mean uint8[1, 4] */
  tvmgen_classifier_reduce(pool, mean);

  /* dense: mean uint8[1, 4] -> classes int8[1, 3], 12 MAC (of dense_acc, classes) */
  tvmgen_classifier_dense(mean, tvmgen_classifier_classes_weight, tvmgen_classifier_classes_bias, tvmgen_classifier_classes_mul, tvmgen_classifier_classes_add, classes);
  return 0;
}
