/* Constant tensors of the network. */
#ifndef TVMGEN_CLASSIFIER_WEIGHTS_H
#define TVMGEN_CLASSIFIER_WEIGHTS_H

#include <stdint.h>

extern const int8_t tvmgen_classifier_hidden_weight[144]; /* int8[4, 3, 3, 4], l2 */
extern const int32_t tvmgen_classifier_hidden_mul[4]; /* int32[4], l2 */
extern const int32_t tvmgen_classifier_hidden_add[4]; /* int32[4], l2 */
extern const int8_t tvmgen_classifier_hidden2_weight[144]; /* int8[4, 3, 3, 4], l2 */
extern const int32_t tvmgen_classifier_hidden2_mul[4]; /* int32[4], l2 */
extern const int32_t tvmgen_classifier_total_mul[1]; /* int32[1], l2 */
extern const int8_t tvmgen_classifier_classes_weight[12]; /* int8[3, 4], l2 */
extern const int32_t tvmgen_classifier_classes_bias[3]; /* int32[3], l2 */
extern const int32_t tvmgen_classifier_classes_mul[1]; /* int32[1], l2 */
extern const int32_t tvmgen_classifier_classes_add[1]; /* int32[1], l2 */

#endif /* TVMGEN_CLASSIFIER_WEIGHTS_H */
