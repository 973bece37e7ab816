/* Shared by the two files of the inference stage: inference.c iterates over sizes and layers,
 * layer_runs.c runs, times and checks one convolution. */
#pragma once

#include "base/tsv.h"
#include "grader/stages/companions.h"
#include "grader/stages/grading.h"
#include "nn/dataset.h"
#include "nn/network.h"

enum { KEEP_EXPECTED_IMAGES = 1000 };

struct gr_inference_stage {
    struct grading *g;
    struct nn_dataset set;
    struct nn_network net;
    struct tsv expected;
    struct gr_companion companion[GR_COMPANIONS];
    double wall_s[NN_MAX_CONVS]; /* seconds per image, of each convolution */
    bool untimed;                /* this size runs once, to check its outputs only */
    struct vg_process
        left; /* the last size's device process, which may still be translating code */
};

/** Runs, times and checks one convolution. At the end the arena holds a right output for the images
 * themselves.
 * @param conv    shape, x, k and tolerance
 * @param record  set to the layer's largest error and its Op Time, NAN if it was not timed
 * @param code    a fault of the environment, or ST_OK
 * @return true if all outputs are right; otherwise the check or *code gives the reason */
bool gr_layer_run(struct gr_inference_stage *in, struct gr_check *check, struct gr_conv conv,
                  int layer, struct gr_inference *record, enum st_code *code, struct st_error *err);
