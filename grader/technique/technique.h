/** @file
 * Whether a submission uses its milestone's technique, judged by what its kernels did (work.h).
 */
#ifndef CONVLAB_GRADER_TECHNIQUE_H
#define CONVLAB_GRADER_TECHNIQUE_H

#include "grader/record/result.h"
#include "grader/technique/work.h"

/** Looks at one fact. @param work  of each layer that was run. @param to  its sentence and whether
 * it holds. */
typedef void gr_fact(const struct gr_work *work, size_t layers, struct gr_evidence *to);

/** Stands for the milestones of which only the work is looked at. */
#define GR_NO_TECHNIQUE "no technique"

/** The facts of a milestone, in order. @return how many, 0 if the milestone has no technique check.
 */
size_t gr_technique_facts(const char *milestone, const struct gr_work *work, size_t layers,
                          struct gr_evidence *to);

#endif
