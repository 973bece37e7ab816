#include "analysis/analysis.h"

#include "vgpu/gpus/gpu_profile.h"

#include <stdlib.h>
#include <string.h>

static struct an_verdict *judge(const struct an_kernels *kernels, const struct vg_profile *gpu)
{
    struct an_verdict *v = calloc(kernels->n + 1, sizeof *v);
    for (size_t i = 0; v && i < kernels->n; i++)
        if (kernels->group[i].longest->kind == TR_KERNEL)
            an_judge(&v[i], &kernels->group[i], gpu);
    return v;
}

enum st_code an_analyse(struct an_analysis *a, const struct tr_trace *trace, const char *profiles,
                        const char *counters, const struct an_source *source, struct st_error *err)
{
    memset(a, 0, sizeof *a);
    a->has_gpu = profiles && vg_profile_find(&a->gpu, profiles, trace->device);
    const struct vg_profile *gpu = a->has_gpu ? &a->gpu : NULL;
    enum st_code code = an_kernels_sum(&a->launches, trace, AN_BY_LAUNCH, err);
    if (!code)
        code = an_kernels_sum(&a->activities, trace, AN_BY_ACTIVITY, err);
    if (!code)
        code = an_kernels_sum(&a->calls, trace, AN_BY_CALL, err);
    if (!code) {
        a->verdict = judge(&a->launches, gpu);
        a->summary = judge(&a->activities, gpu);
        if (!a->verdict || !a->summary)
            code = st_fail(err, ST_NO_MEMORY, "out of memory for an analysis");
    }
    if (!code && counters)
        code = tsv_read(counters, &a->counters, err);
    if (!code && counters && (code = an_lines_rank(&a->lines, trace, &a->counters, source, err)))
        st_detail(err, ST_WHERE, "%s", counters);
    if (code)
        an_free(a);
    return code;
}

/* Adds the counters of `counted`. @return the new verdicts; NULL: out of memory */
static struct an_verdict *add_counters(struct an_kernels *kernels, const struct an_kernels *counted,
                                       enum an_by by, const struct vg_profile *gpu)
{
    for (size_t i = 0; i < kernels->n; i++) {
        struct an_kernel *k = &kernels->group[i];
        const struct an_kernel *found =
            k->longest->kind == TR_KERNEL && !k->has_terms ? an_kernels_find(counted, k, by) : NULL;
        if (found)
            an_kernel_count(k, found);
    }
    return judge(kernels, gpu);
}

enum st_code an_add_counters(struct an_analysis *a, const struct an_analysis *counted,
                             struct st_error *err)
{
    const struct vg_profile *gpu = a->has_gpu ? &a->gpu : NULL;
    struct an_verdict *verdict = add_counters(&a->launches, &counted->launches, AN_BY_LAUNCH, gpu);
    struct an_verdict *summary =
        add_counters(&a->activities, &counted->activities, AN_BY_ACTIVITY, gpu);
    if (!verdict || !summary) {
        free(verdict);
        free(summary);
        return st_fail(err, ST_NO_MEMORY, "out of memory for an analysis");
    }
    free(a->verdict);
    free(a->summary);
    a->verdict = verdict;
    a->summary = summary;
    return ST_OK;
}

void an_free(struct an_analysis *a)
{
    an_kernels_free(&a->launches);
    an_kernels_free(&a->activities);
    an_kernels_free(&a->calls);
    an_lines_free(&a->lines);
    tsv_free(&a->counters);
    free(a->verdict);
    free(a->summary);
    memset(a, 0, sizeof *a);
}
