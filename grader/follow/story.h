/** @file
 * The text of `grader debug`: what an output was made of, and where that parts from what is expected.
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
    bool ended;         /**< early, so that y was not copied back */
    bool all;           /**< every product, not only those around the first difference */
    const char *source; /**< how lines call the student's file */
};

/** Writes what the two threads of a finding did last.
 * @param table    the record's table of the proof
 * @param message  the finding: it names its thread */
void db_recent_print(FILE *out, const struct tsv *table, const char *message);

/** Writes it. */
void db_story_print(FILE *out, const struct db_story *story);

/** The first difference in one sentence.
 * @param to  gets "conv.cu:36 multiplies 0, stored at conv.cu:30, by k[0,0,1,0]; expected x[0,0,1,0]", or ""
 * @return whether the story has a difference that can be named */
bool db_story_difference(char *to, size_t room, const struct db_story *story);
