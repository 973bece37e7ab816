/** @file
 * Judges whether a submission uses its milestone's technique, by the ways that x and k took (way.h).
 */
#pragma once

#include "grader/course/rubric.h"
#include "grader/record/result.h"
#include "grader/technique/way.h"

/** Looks for the facts of a rubric's item, in order.
 * @param technique  the item; NULL: the work alone is looked at
 * @param ways  of each layer that was proved; a fact about more layers is left out @return how many */
size_t gr_technique_facts(const struct gr_item *technique, const struct gr_way *ways, size_t layers,
                          struct gr_evidence *to);

/** @return whether a fact of @p technique (or NULL) compares layers with each other. */
bool gr_technique_compares_layers(const struct gr_item *technique);

/** Checks that the item asks only for facts of facts.def, in their form, and for existing counters.
 * @param path  the rubric @return ST_BAD_FORMAT with the mistake and the existing names. */
enum st_code gr_technique_known(const struct gr_item *technique, const char *path,
                                struct st_error *err);
