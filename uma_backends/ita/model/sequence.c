/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's own count of jobs: step, inner tile, output tile. */
#include "engine.h"

static const char *const NAMES[ITA_STEPS] = {"idle", "Q", "K", "V", "QK", "AV", "OW", "F1", "F2", "MatMul"};

/* Slot 0 serves Q and plain products. */
uint32_t ita_slot(enum ita_step step) {
  static const uint8_t SLOTS[ITA_STEPS] = {
      [ITA_Q] = 0, [ITA_K] = 1, [ITA_V] = 2, [ITA_QK] = 3, [ITA_AV] = 4, [ITA_OW] = 5, [ITA_F1] = 6, [ITA_F2] = 7};
  return SLOTS[step];
}

static enum ita_step first_step(enum ita_layer layer) {
  switch (layer) {
    case ITA_ATTENTION: return ITA_Q;
    case ITA_FEEDFORWARD: return ITA_F1;
    case ITA_LINEAR: return ITA_MATMUL;
    default: return ITA_QK;
  }
}

uint32_t ita_inner_count(const struct ita_sequence *sequence) {
  const struct ita_tiles *t = &sequence->tiles;
  switch (sequence->step) {
    case ITA_QK:
    case ITA_OW: return t->p;
    case ITA_AV: return t->s;
    case ITA_F2: return t->f;
    default: return t->e;
  }
}

static uint32_t outer_count(const struct ita_sequence *sequence) {
  const struct ita_tiles *t = &sequence->tiles;
  switch (sequence->step) {
    case ITA_QK: return t->s;
    case ITA_AV: return t->p;
    case ITA_F1: return t->s * t->f;
    case ITA_OW:
    case ITA_F2: return t->s * t->e;
    default: return t->s * t->p;
  }
}

static enum ita_step next_step(struct ita_sequence *sequence) {
  switch (sequence->step) {
    case ITA_Q: return ITA_K;
    case ITA_K: return ITA_V;
    case ITA_V: return ITA_QK;
    case ITA_QK: return ITA_AV;
    case ITA_AV:
      if (++sequence->group < sequence->tiles.s) return ITA_QK;
      return sequence->layer == ITA_ATTENTION ? ITA_OW : ITA_IDLE;
    case ITA_F1: return ITA_F2;
    default: return ITA_IDLE;
  }
}

#define REFUSE(...) JOB_QUEUE_REFUSE(&engine->queue, __VA_ARGS__)

bool ita_sequence_enter(struct ita_engine *engine, const struct ita_job *job) {
  struct ita_sequence *q = &engine->sequence;
  if (q->is_lost) REFUSE("ITA lost count when SOFT_CLEAR aborted a job in step %s: only a reset helps", NAMES[q->step]);
  if (q->step == ITA_IDLE) {
    *q = (struct ita_sequence){.step = first_step(job->layer), .layer = job->layer, .tiles = job->tiles};
  }
  const struct ita_tiles *a = &q->tiles, *b = &job->tiles;
  if (q->layer != job->layer || a->s != b->s || a->e != b->e || a->p != b->p || a->f != b->f) {
    REFUSE("ITA is in step %s of layer %d: CTRL_ENGINE and TILES must stay as they are until the layer ends",
           NAMES[q->step], (int)q->layer);
  }
  const bool is_last = q->inner + 1 == ita_inner_count(q);
  if (job->has_output != is_last) {
    REFUSE("ITA is at inner tile %u of %u in step %s: output_disable must be set on all but the last one", q->inner,
           ita_inner_count(q), NAMES[q->step]);
  }
  if (job->activation != ITA_IDENTITY && q->step != ITA_F1 && q->step != ITA_MATMUL) {
    REFUSE("ITA applies activations in steps F1 and MatMul only, not in step %s", NAMES[q->step]);
  }
  if (job->preload == engine->has_block) {
    REFUSE(job->preload ? "ITA job in step %s preloads weights although the job before it loaded them (weight_nextload)"
                        : "ITA job in step %s neither preloads weights nor did the job before it load them",
           NAMES[q->step]);
  }
  return true;
}

/* Between jobs the engine goes on comparing: where TILES of the next context, written or not, says that so many inner tiles
 * are a sum, it counts the sum as complete. Nothing is compared where a sum begins. */
static bool next_context_agrees(struct ita_engine *engine) {
  const struct ita_sequence *q = &engine->sequence;
  struct job_queue *queue = &engine->queue;
  const uint32_t *next = queue->words[job_queue_context_after(queue, queue->running_context)];
  const struct ita_sequence seen = {.step = q->step, .tiles = ita_decode_tiles(next)};
  if (queue->pending > 1 || q->inner == 0 || q->inner != ita_inner_count(&seen)) return true;
  REFUSE("ITA job %u ended in cycle %llu, in step %s with inner tile %u of %u, before TILES of the next job was written: it takes "
         "the sum for complete, as its next context says; write both jobs before the first one starts",
         queue->finished_jobs, (unsigned long long)queue->job_end, NAMES[q->step], q->inner - 1, ita_inner_count(q));
}

bool ita_sequence_leave(struct ita_engine *engine) {
  struct ita_sequence *q = &engine->sequence;
  if (++q->inner < ita_inner_count(q)) return next_context_agrees(engine);
  q->inner = 0;
  if (++q->outer < outer_count(q)) return true;
  q->outer = 0;
  q->step = next_step(q);
  return true;
}
