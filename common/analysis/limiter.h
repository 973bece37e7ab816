/** @file
 * What limits a kernel, and what to do about it.
 *
 * On the virtual GPU the clock's model says what each resource would take alone (struct an_kernel:
 * term_ns). The largest names the resource. Then it is asked what would be saved if that resource
 * were used without waste: shared memory without bank conflicts, global memory with all sectors
 * full, warps with all lanes busy, a grid that fills the GPU. If that is much, the waste is the
 * limiter and not the resource.
 *
 * On a real GPU the trace has times, grids and registers, and with metrics also counters: then
 * rates are compared with the GPU's peaks. The verdict is "unknown" where these do not suffice.
 */
#pragma once

#include "analysis/kernels.h"

enum an_limiter {
#define LIMITER(name, text, title, advice) AN_##name,
#include "analysis/limiters.def"
#undef LIMITER
    AN_LIMITERS
};

/** A figure that proves the verdict: "FP32 units busy", "83%". */
struct an_figure {
    char name[48], value[48];
};
enum { AN_FIGURES_MAX = 12 };

struct an_verdict {
    enum an_limiter limiter;
    double saved; /**< what a kernel without this waste would save at most, in parts of its time; 0:
                     not known, or the resource is used as it should be */
    enum an_limiter second; /**< the next in line, AN_UNKNOWN: none worth a word */
    struct an_figure figure[AN_FIGURES_MAX];
    size_t figures;
    char advice[512]; /**< one sentence or two */
};

/** Judges a group of launches. @param gpu  what it ran on; NULL: not known. */
void an_judge(struct an_verdict *verdict, const struct an_kernel *kernel,
              const struct vg_profile *gpu);

/** The figures with commas between. */
#define AN_FIGURES_TEXT (AN_FIGURES_MAX * (sizeof(struct an_figure) + 2))
void an_figures_text(char to[AN_FIGURES_TEXT], const struct an_verdict *verdict);

/** @return what a term of the model is a part of: "issue slots busy". */
const char *an_term_text(enum vg_term term);

/** @return a limiter's name in tables ("bank_conflicts"), and in sentences. */
const char *an_limiter_text(enum an_limiter limiter);
const char *an_limiter_title(enum an_limiter limiter);
