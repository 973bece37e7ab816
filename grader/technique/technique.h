/** @file
 * Judges whether a submission uses its milestone's technique, by the ways of x and k (way.h).
 */
#pragma once

#include "grader/course/rubric.h"
#include "grader/record/result.h"
#include "grader/technique/way.h"

/** Evaluates the facts of a rubric's item, in order. @param technique the item; NULL: only the work
 * is judged @param ways  of each proved layer; facts about more layers are skipped @return their
 * number */
size_t gr_technique_facts(const struct gr_item *technique, const struct gr_way *ways, size_t layers,
                          struct gr_evidence *to);

/** @return whether a fact of @p technique (or NULL) compares layers with each other. */
bool gr_technique_compares_layers(const struct gr_item *technique);

/** Checks that the item requires only facts of facts.def, in their form, and existing counters.
 * @param path  the rubric @return ST_BAD_FORMAT with the mistake and the existing names. */
enum st_code gr_technique_known(const struct gr_item *technique, const char *path,
                                struct st_error *err);
