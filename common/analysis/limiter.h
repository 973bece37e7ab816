/** @file
 * Determines a kernel's limiter, and gives advice.
 *
 * On the virtual GPU, the clock's model gives the time that each resource would take alone (struct
 * an_kernel: term_ns). The largest time names the resource. Then the analysis computes the time
 * saved if that resource were used without waste: shared memory without bank conflicts, global
 * memory with all sectors full, warps with all lanes busy, a grid that fills the GPU. If the saving
 * is large, the waste is the limiter, not the resource.
 *
 * On a real GPU, the trace has times, grids and registers, and counters if metrics were recorded:
 * the analysis compares rates with the GPU's peaks. If these data do not suffice, the verdict is
 * "unknown".
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
    double saved; /**< the share of the kernel's time that this waste costs at most; 0: unknown, or
                       no waste */
    enum an_limiter second; /**< the next limiter; AN_UNKNOWN: none worth a remark */
    struct an_figure figure[AN_FIGURES_MAX];
    size_t figures;
    char advice[512]; /**< one or two sentences */
};

/** Judges a group of launches. @param gpu  the GPU on which they ran; NULL: unknown. */
void an_judge(struct an_verdict *verdict, const struct an_kernel *kernel,
              const struct vg_profile *gpu);

/** Size of a buffer for the figures, separated by commas. */
#define AN_FIGURES_TEXT (AN_FIGURES_MAX * (sizeof(struct an_figure) + 2))
void an_figures_text(char to[AN_FIGURES_TEXT], const struct an_verdict *verdict);

/** @return the words for a term of the model: "issue slots busy". */
const char *an_term_text(enum vg_term term);

/** @return a limiter's name in tables ("bank_conflicts"), and in sentences. */
const char *an_limiter_text(enum an_limiter limiter);
const char *an_limiter_title(enum an_limiter limiter);
