/** @file
 * Planted bugs: one of two engines runs a slightly different program. A comparison that does not
 * find them is worthless.
 */
#pragma once

#include <stddef.h>

/** A possible mistake of a translator, as a change of the text that it translates. */
struct engine_plant {
    const char *name, *from, *to;
};
extern const struct engine_plant engine_plants[];
extern const size_t engine_plant_count;

/** @return the text with the mistake wherever it can be planted, malloc'd; NULL: nowhere. */
char *engine_plant_apply(const struct engine_plant *plant, const char *text);
