/** @file
 * The sections of a report that a profile fills in, as Markdown: what the course asks for of every
 * milestone. They are made from the files that `grader mN --profile` left in a folder
 * (docs/profiler.md); a file that is missing or damaged leaves its section out, with the reason.
 */
#ifndef CONVLAB_GRADER_PROFILE_SECTIONS_H
#define CONVLAB_GRADER_PROFILE_SECTIONS_H

#include "base/tsv.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/** The sections: X(NAME, name for templates, heading). */
#define GR_PROFILE_SECTION_MAP(X)                                                                  \
    X(KERNELS, "kernels", "Kernels that together take more than 90% of the GPU's time")            \
    X(CALLS, "calls", "API calls that together take more than 90% of the host's time in them")     \
    X(SUMMARY, "summary", "nvprof's summary")                                                      \
    X(SIZES, "sizes", "The sizes side by side")                                                    \
    X(TIME, "time", "Time of the whole program")                                                   \
    X(LIMITS, "limits", "What limits each kernel")                                                 \
    X(LINES, "lines", "Source lines that cost most")

enum gr_profile_section {
#define GR_SECTION(name, text, heading) GR_PROFILE_##name,
    GR_PROFILE_SECTION_MAP(GR_SECTION)
#undef GR_SECTION
        GR_PROFILE_SECTIONS
};

/** A profile's tables; those that are not there are zeroed. */
struct gr_profile {
    char folder[PATH_MAX];
    struct tsv kernels, calls, analysis, lines, layers, parts;
    size_t sizes;
    unsigned long images[16]; /**< ascending, as in parts.tsv */
    bool modelled;            /**< times are those of the virtual GPU */
    struct st_error damage;   /**< of the first table that could not be read, else code ST_OK */
};

/** Reads a profile. @return whether there is one; close it with gr_profile_close() either way. */
bool gr_profile_open(struct gr_profile *profile, const char *folder);
void gr_profile_close(struct gr_profile *profile);

/** @return whether a section has anything to show. */
bool gr_profile_has(const struct gr_profile *profile, enum gr_profile_section section);

/** Writes a section without its heading. @param tables  tables numbered so far; counted up. */
void gr_profile_put(FILE *out, const struct gr_profile *profile, enum gr_profile_section section,
                    int *tables);

/** @return a section's heading; the section of a name, or GR_PROFILE_SECTIONS. */
const char *gr_profile_heading(enum gr_profile_section section);
enum gr_profile_section gr_profile_section_named(const char *name);

/** Writes all sections under "## Profile", or nothing if the folder has no profile. */
void gr_profile_markdown(FILE *out, const char *folder, int *tables);

#endif
