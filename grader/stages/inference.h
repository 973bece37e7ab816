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
    double wall_s[NN_MAX_CONVS];             /* seconds per image, of each convolution */
    bool untimed;                            /* this size runs once, to check its outputs only */
    bool has_begun;                          /* the course's first lines are printed */
    struct gr_timed_work work[NN_MAX_CONVS]; /* of this size's layers, for gr_layers_judge() */
    int recorded, judged;                    /* how many there are, and how many are proved */
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

/** Compares the recorded runs of a size's layers with the proof: fails the check if a layer's work is
 * not proved, even if a later layer has already failed it. */
enum st_code gr_layers_judge(struct gr_inference_stage *in, struct gr_check *check,
                             struct st_error *err);
