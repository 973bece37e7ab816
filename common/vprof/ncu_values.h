/** @file
 * The metrics of ncu's sections, of one launch.
 */
#pragma once

#include "trace/trace.h"

/** The sections, in their order. */
enum ncu_section {
#define SECTION(identifier, title) NCU_SECTION_##identifier,
#define METRIC(...)
#include "vprof/ncu_sections.def"
    NCU_SECTIONS
};

/** A section's title. */
extern const char *const ncu_titles[NCU_SECTIONS];

enum { NCU_VALUES_MAX = 96 };

/** A metric of a launch. */
struct ncu_value {
    enum ncu_section section;
    const char *label, *unit; /**< the unit as it is scaled */
    char text[48];            /**< the value in that unit, "n/a" if it is not known */
    double number;            /**< before it was scaled; NAN: not known, or no number */
};

/** Finds the metrics of a launch. @param gpu  what it ran on; NULL: not known @return how many */
size_t ncu_values_of(const struct tr_trace *trace, const struct tr_row *row,
                     const struct vg_profile *gpu, struct ncu_value to[NCU_VALUES_MAX]);
