/** @file
 * Writes the text of `grader debug`: how an output was computed, and where the computation first
 * differs from the expected one.
 */
#pragma once

#include "grader/follow/steps.h"

#include <stdio.h>

/** The output and its steps. */
struct db_story {
    struct db_output output;
    const struct db_steps *steps;
    const float *x, *k;
    float expected, got;
    bool right, written;
    bool matrices; /**< the tensors are two matrices and their product: name them by two indices */
    bool ended;    /**< the run ended early, so y was not copied back */
    bool all;      /**< print every product, not only those around the first difference */
    const char *source; /**< the name of the student's file in printed lines */
};

/** Writes the last steps of the two threads of a finding.
 * @param table    the record's table of the proof
 * @param message  the message of the finding, which names the thread */
void db_recent_print(FILE *out, const struct tsv *table, const char *message);

/** Writes the whole text. */
void db_story_print(FILE *out, const struct db_story *story);

/** States that several threads store the output, if they do.
 * @param to  set to "y[0,1,0,0] is stored 2 times at conv.cu:27, for example by thread ..." */
bool db_story_stores(char *to, size_t room, const struct db_story *story);

/** Describes the first difference in one sentence.
 * @param to  set to "product 3 of this output, at conv.cu:36, multiplies k[0,0,1,0] 0.5 by 0 (not
 * of x), which conv.cu:30 stored to shared memory; it needs x[0,0,1,0]", or ""
 * @return whether there is a difference that can be named */
bool db_story_difference(char *to, size_t room, const struct db_story *story);
