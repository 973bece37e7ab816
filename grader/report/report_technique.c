/* What the page of a GPU milestone says beyond correctness: the facts that its technique is judged
 * by, and the Op Times of the graded code, the reference and m2 beside each other. */
#include "grader/report/report_parts.h"

#include "base/tsv.h"
#include "grader/record/timing.h"

#include <math.h>
#include <string.h>

/* ---- evidence ------------------------------------------------------------------------------- */

void gr_evidence_markdown(FILE *out, const struct gr_result *r, int *tables)
{
    if (!r->evidences)
        return;
    fputs("## Technique\n\n", out);
    fprintf(out,
            "**Table %d.** What the kernels of one convolution did, counted on the virtual GPU. In "
            "brackets: what is wanted.\n\n| | Found |\n|---|---|\n",
            ++*tables);
    for (size_t i = 0; i < r->evidences; i++) {
        fputs(r->evidence[i].holds ? "| ✓ | " : "| **✗** | ", out);
        gr_put_markdown(out, r->evidence[i].text);
        fputs(" |\n", out);
    }
    fputs("\n", out);
}

void gr_evidence_tsv(FILE *out, const struct gr_result *r)
{
    static const char *const header[] = {"fact", "holds", "found", "text"};
    tsv_write_row(out, 4, header);
    for (size_t i = 0; i < r->evidences; i++) {
        char found[NUMBER_CHARS];
        const char *const fields[] = {r->evidence[i].fact, r->evidence[i].holds ? "yes" : "no",
                                      number_exact(found, r->evidence[i].found),
                                      r->evidence[i].text};
        tsv_write_row(out, 4, fields);
    }
}

/* ---- ratios --------------------------------------------------------------------------------- */

static const enum gr_subject subjects[] = {GR_SUBMISSION, GR_REFERENCE, GR_BASELINE};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* The median of a layer, or of all together (layer 0). NAN if not timed. */
static double op_time(const struct gr_result *r, enum gr_subject subject, int layer, size_t images)
{
    if (layer == 0) {
        struct gr_op_time sum = gr_op_time_sum(r, subject, images);
        return sum.layers ? sum.seconds : NAN;
    }
    for (size_t i = 0; i < r->timings; i++) {
        const struct gr_timing *t = &r->timing[i];
        if (t->subject == subject && t->layer == layer && (size_t)t->shape.B == images &&
            t->repeats > 0)
            return t->median_s;
    }
    return NAN;
}

static void put_cell(FILE *out, double value, int digits, const char *unit)
{
    char text[NUMBER_CHARS];
    if (isfinite(value))
        fprintf(out, " %s%s |", number_short(text, value, digits), unit);
    else
        fputs(" – |", out);
}

static void put_rows(FILE *out, const struct gr_result *r, int layer, size_t images)
{
    double reference = op_time(r, GR_REFERENCE, layer, images);
    double baseline = op_time(r, GR_BASELINE, layer, images);
    for (int i = 0; i < SUBJECTS; i++) {
        double time = op_time(r, subjects[i], layer, images);
        if (!isfinite(time))
            continue;
        fprintf(out, "| %zu | ", images);
        if (layer)
            fprintf(out, "%d", layer);
        else
            fputs("all", out);
        fprintf(out, " | %s |", gr_subject_name(subjects[i]));
        put_cell(out, time * 1e3, 4, "");
        put_cell(out, time / baseline, 3, "×");
        put_cell(out, time / reference, 3, "×");
        fputs("\n", out);
    }
}

static bool has_baseline(const struct gr_result *r)
{
    for (size_t i = 0; i < r->timings; i++)
        if (r->timing[i].subject == GR_BASELINE)
            return true;
    return false;
}

void gr_ratios_markdown(FILE *out, const struct gr_result *r, int *tables)
{
    if (!has_baseline(r))
        return;
    fprintf(out,
            "**Table %d.** Op Times of the graded code, of the reference of this milestone and of "
            "that of m2, taken in turn in one run on the same data, and their ratios (above 1: "
            "slower).\n\n| Images | Layer | Code | Op Time (ms) | Of m2's | Of the reference's "
            "|\n|---:|---:|---|---:|---:|---:|\n",
            ++*tables);
    for (size_t i = 0; i < r->inferences; i++) {
        if (!r->inference[i].passed)
            continue;
        for (int layer = 1; layer <= r->inference[i].convs; layer++)
            put_rows(out, r, layer, r->inference[i].images);
        if (r->inference[i].convs > 1)
            put_rows(out, r, 0, r->inference[i].images);
    }
    fputs("\n", out);
}
