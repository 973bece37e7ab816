/** @file
 * The metrics of ncu's sections for one launch.
 */
#pragma once

#include "trace/trace.h"

/** The sections, in ncu's order. */
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
    const char *label, *unit; /**< the scaled unit */
    const char *base_unit;    /**< the unit before scaling */
    char text[48];            /**< the value in that unit, "n/a" if unknown */
    double number;            /**< before scaling; NAN: unknown, or not a number */
};

/** Computes the metrics of a launch. @param gpu  the GPU on which it ran; NULL: unknown
 * @return their number */
size_t ncu_values_of(const struct tr_trace *trace, const struct tr_row *row,
                     const struct vg_profile *gpu, struct ncu_value to[NCU_VALUES_MAX]);
