#include "grader/diagnose/clues.h"

#include "grader/compare/element.h"
#include "nn/oracle.h"
#include "runner/runner_protocol.h"

#include <math.h>
#include <stdlib.h>

void gr_clues_free(struct gr_clues *clues)
{
    for (size_t i = 0; clues->is_wrong && i < clues->n; i++)
        free(clues->is_wrong[i]);
    free(clues->is_wrong);
    free(clues->by_work);
}

static void sort_by_work(struct gr_clues *clues)
{
    for (size_t i = 0; i < clues->n; i++) {
        double work = nn_conv_macs(&clues->cases[i].spec.shape);
        size_t at = i;
        while (at > 0 && nn_conv_macs(&clues->cases[clues->by_work[at - 1]].spec.shape) > work) {
            clues->by_work[at] = clues->by_work[at - 1];
            at--;
        }
        clues->by_work[at] = i;
    }
}

bool gr_clues_make(struct gr_clues *clues, const struct gr_case *cases,
                   const struct gr_compare *compared, size_t n)
{
    *clues = (struct gr_clues){.cases = cases, .compared = compared, .n = n};
    clues->is_wrong = calloc(n, sizeof *clues->is_wrong);
    clues->by_work = calloc(n, sizeof *clues->by_work);
    if (!clues->is_wrong || !clues->by_work)
        return false;
    for (size_t at = 0; at < n; at++) {
        const struct gr_case *c = &cases[at];
        size_t elems = nn_conv_y_elems(&c->spec.shape);
        size_t plane = elems / ((size_t)c->spec.shape.B * c->spec.shape.M);
        clues->is_wrong[at] = malloc(elems);
        if (!clues->is_wrong[at])
            return false;
        for (size_t i = 0; i < elems; i++) {
            float atol = c->atol[i / plane % c->spec.shape.M];
            clues->is_wrong[at][i] = !gr_element_passes(c->y[i], c->ref[i], atol);
        }
        clues->wrong_cases += compared[at].wrong > 0;
        clues->wrong += compared[at].wrong;
        clues->elems += elems;
    }
    sort_by_work(clues);
    return true;
}

struct gr_contents gr_clues_contents(const struct gr_clues *clues)
{
    struct gr_contents sum = {0};
    for (size_t at = 0; at < clues->n; at++) {
        for (size_t i = 0; i < clues->compared[at].elems; i++) {
            float got = clues->cases[at].y[i];
            if (!clues->is_wrong[at][i])
                continue;
            if (gr_is_unwritten(got))
                sum.unwritten++;
            else if (gr_comes_from(got, GR_POISON_BITS))
                sum.old_y++;
            else if (gr_comes_from(got, GR_GUARD_BITS) || gr_bits(got) == GR_GUARD_BITS)
                sum.outside++;
            else if (gr_comes_from(got, RUNNER_SCRATCH_BITS) || gr_bits(got) == RUNNER_SCRATCH_BITS)
                sum.scratch++;
            else if (gr_bits(got) == GR_GPU_NAN_BITS)
                sum.gpu_nan++;
            else if (isnan(got))
                sum.other_nan++;
            else if (isinf(got))
                sum.inf++;
            else if (got == 0)
                sum.zero++;
            else
                sum.number++;
        }
    }
    return sum;
}
