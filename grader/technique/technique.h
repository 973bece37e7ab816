/** @file
 * Judges whether a submission uses its milestone's technique, by the paths that x and k take
 * (way.h).
 */
#pragma once

#include "grader/course/rubric.h"
#include "grader/record/result.h"
#include "grader/technique/way.h"

/** Evaluates the facts of a rubric's item, in order. @param technique  the item; NULL: only the
 * work is judged @param ways  one for each proved layer; facts about more layers are skipped
 * @return the number of facts */
size_t gr_technique_facts(const struct gr_item *technique, const struct gr_way *ways, size_t layers,
                          struct gr_evidence *to);

/** @return whether a fact of @p technique (or NULL) compares layers with each other. */
bool gr_technique_compares_layers(const struct gr_item *technique);

/** @return whether a fact of @p technique (or NULL) needs a proof that recognises tiles of the
 * unrolled matrix. */
bool gr_technique_looks_at_tiles(const struct gr_item *technique);

/** Checks that the item requires only existing counters and facts of facts.def, in the right form.
 * @param path  the rubric's path @return ST_BAD_FORMAT, with the mistake and the existing names, if
 * not. */
enum st_code gr_technique_known(const struct gr_item *technique, const char *path,
                                struct st_error *err);
