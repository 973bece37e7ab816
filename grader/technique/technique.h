/** @file
 * Whether a submission uses its milestone's technique, judged by the ways that x and k took (way.h).
 */
#ifndef CONVLAB_GRADER_TECHNIQUE_H
#define CONVLAB_GRADER_TECHNIQUE_H

#include "grader/record/result.h"
#include "grader/technique/way.h"

/** Stands for the milestones of which only the work is looked at. */
#define GR_NO_TECHNIQUE "no technique"

/** The facts of a milestone, in order. @param ways  of each layer that was proved @return how many, 0
 * if the milestone has no technique check. */
size_t gr_technique_facts(const char *milestone, const struct gr_way *ways, size_t layers,
                          struct gr_evidence *to);

#endif
