/** @file
 * Planted bugs: what one of two engines runs is not quite what the other one runs. A comparison that
 * does not find them is worth nothing.
 */
#pragma once

#include <stddef.h>

/** One mistake that a translator may make, as a change of the text that it translates. */
struct engine_plant {
    const char *name, *from, *to;
};
extern const struct engine_plant engine_plants[];
extern const size_t engine_plant_count;

/** @return the text with the mistake in every place that has it, malloc'd; NULL if none has. */
char *engine_plant_apply(const struct engine_plant *plant, const char *text);
