/* Parts of one grading: who graded what, the checks, the network, Op Times. */
#include "grader/paper/fill.h"

#include "base/numbers.h"
#include "grader/report/report_parts.h"
#include "grader/record/timing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = GR_MAX_INFERENCES };

static void put_number(FILE *out, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "–", out);
}

static void put_fact(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    fprintf(out, "| **%s** | ", name);
    gr_put_markdown(out, text);
    fputs(" |\n", out);
}

/* ---- graded --------------------------------------------------------------------------------- */

static void put_graded(const struct pp_fill *f, const struct gr_result *r)
{
    char command[160];
    pp_make_command(f, command, sizeof command);
    if (f->grading->stale) {
        fputs("> **Out of date.** ", f->out);
        gr_put_markdown_code(f->out, r->source);
        fprintf(f->out,
                " was changed after it was graded. What follows is of the earlier version; "
                "`%s` renews it.\n\n",
                command);
    }
    if (strcmp(r->subject, "reference") == 0)
        fprintf(f->out,
                "> **Not your work.** What was graded last is the reference solution; `%s` grades "
                "yours.\n\n",
                command);
    fputs("| | |\n|---|---|\n| **Graded** | ", f->out);
    gr_put_markdown(f->out, r->subject);
    if (r->source[0]) {
        fputs(", ", f->out);
        gr_put_markdown_code(f->out, r->source);
    }
    fputs(" |\n| **Automatic points** | ", f->out);
    fprintf(f->out, "%g of %g |\n", r->score, r->max_score);
    put_fact(f->out, "Machine", r->machine);
    put_fact(f->out, "Device", r->device);
    put_fact(f->out, "GPU profile", r->profile);
    put_fact(f->out, "Compiler", r->compiler);
    put_fact(f->out, "Date", r->date);
    fprintf(f->out, "| **Seed** | %" PRIu64 " |\n", r->seed);
}

/* ---- checks, technique ---------------------------------------------------------------------- */

static void put_checks(const struct pp_fill *f, const struct gr_result *r)
{
    static const char *const mark[] = {
        [GR_PASS] = "✓ pass", [GR_FAIL] = "**✗ FAIL**", [GR_SKIP] = "– skip"};
    pp_put_caption(f, NULL);
    fputs("| Check | Result | Points | Found |\n|---|---|---:|---|\n", f->out);
    for (size_t i = 0; i < r->checks; i++) {
        const struct gr_check *c = &r->check[i];
        fputs("| ", f->out);
        gr_put_markdown(f->out, c->text[0] ? c->text : c->name);
        fprintf(f->out, " | %s | %g / %g | ", mark[c->status], c->points, c->max_points);
        char first[sizeof c->message]; /* what follows the first line is for the page of the grading
                                        */
        snprintf(first, sizeof first, "%.*s", (int)strcspn(c->message, "\n"), c->message);
        gr_put_markdown(f->out, first);
        fputs(" |\n", f->out);
    }
}

static void put_technique(const struct pp_fill *f, const struct gr_result *r)
{
    if (!r->evidences) {
        fputs("> *Nothing to show.* No technique was judged in this grading: on the CPU there is "
              "none, and a program that does not work is not looked at.\n",
              f->out);
        return;
    }
    pp_put_caption(f, NULL);
    fputs("| | Found, and in brackets what is wanted |\n|---|---|\n", f->out);
    for (size_t i = 0; i < r->evidences; i++) {
        fputs(r->evidence[i].holds ? "| ✓ | " : "| **✗** | ", f->out);
        gr_put_markdown(f->out, r->evidence[i].text);
        fputs(" |\n", f->out);
    }
}

/* ---- sizes side by side --------------------------------------------------------------------- */

struct sizes {
    size_t n, images[SIZES];
    bool one_model;
};

static struct sizes find_sizes(const struct gr_result *r)
{
    struct sizes s = {.one_model = true};
    for (size_t i = 0; i < r->inferences; i++) {
        const size_t images = r->inference[i].images;
        size_t at = 0;
        while (at < s.n && s.images[at] < images)
            at++;
        /* (m0's are named after the library, too: "two-layer (cuDNN)") */
        s.one_model = s.one_model && !strchr(r->inference[i].model, '(') &&
                      strcmp(r->inference[i].model, r->inference[0].model) == 0;
        if (at < s.n && s.images[at] == images)
            continue;
        memmove(s.images + at + 1, s.images + at, (s.n - at) * sizeof *s.images);
        s.images[at] = images;
        s.n++;
    }
    return s;
}

static const struct gr_inference *inference_of(const struct gr_result *r, const char *model,
                                               size_t images)
{
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].images == images && strcmp(r->inference[i].model, model) == 0)
            return &r->inference[i];
    return NULL;
}

/* A time of a network with wrong outputs is no time. */
static double op_time(const struct gr_inference *i, int layer)
{
    if (!i || !i->passed || layer > i->convs)
        return NAN;
    double sum = 0;
    for (int l = layer ? layer : 1; l <= (layer ? layer : i->convs); l++)
        sum += i->op_time_s[l - 1];
    return sum;
}

static void put_sizes_head(const struct pp_fill *f, const struct sizes *s, const char *what)
{
    fprintf(f->out, "| %s%s ", s->one_model ? "" : "Model | ", what);
    for (size_t i = 0; i < s->n; i++)
        fprintf(f->out, "| %zu images ", s->images[i]);
    fprintf(f->out, "|\n|---%s", s->one_model ? "" : "|---");
    for (size_t i = 0; i < s->n; i++)
        fputs("|---:", f->out);
    fputs("|\n", f->out);
}

static void put_model_cell(const struct pp_fill *f, const struct sizes *s, const char *model)
{
    fputs("| ", f->out);
    if (s->one_model)
        return;
    gr_put_markdown(f->out, model);
    fputs(" | ", f->out);
}

/* Whether the inference is the first of its model: models come in the order in which they were run.
 */
static bool is_first(const struct gr_result *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(r->inference[i].model, r->inference[at].model) == 0)
            return false;
    return true;
}

static void put_op_times(const struct pp_fill *f, const struct gr_result *r, const struct sizes *s)
{
    put_sizes_head(f, s, "Op Time (ms)");
    for (size_t m = 0; m < r->inferences; m++) {
        const char *model = r->inference[m].model;
        const int convs = r->inference[m].convs;
        for (int row = 1; is_first(r, m) && row <= convs + (convs > 1); row++) {
            put_model_cell(f, s, model);
            if (row <= convs)
                fprintf(f->out, "Layer %d ", row);
            else
                fputs("All layers ", f->out);
            for (size_t i = 0; i < s->n; i++) {
                fputs("| ", f->out);
                put_number(
                    f->out,
                    op_time(inference_of(r, model, s->images[i]), row <= convs ? row : 0) * 1e3, 4);
                fputc(' ', f->out);
            }
            fputs("|\n", f->out);
        }
    }
}

static void put_networks(const struct pp_fill *f, const struct gr_result *r, const struct sizes *s)
{
    static const char *const rows[] = {"Correctness", "Expected", "Largest error", "Outputs"};
    put_sizes_head(f, s, " ");
    for (size_t m = 0; m < r->inferences; m++)
        for (size_t row = 0; is_first(r, m) && row < sizeof rows / sizeof *rows; row++) {
            if (row == 1 && !isfinite(r->inference[m].expected_correctness))
                continue;
            put_model_cell(f, s, r->inference[m].model);
            fprintf(f->out, "%s ", rows[row]);
            for (size_t i = 0; i < s->n; i++) {
                const struct gr_inference *at =
                    inference_of(r, r->inference[m].model, s->images[i]);
                fputs("| ", f->out);
                if (!at || (row == 2 && !isfinite(at->max_error)))
                    fputs("–", f->out);
                else if (row == 2)
                    fprintf(f->out, "%.1e", at->max_error);
                else if (row == 3)
                    fputs(at->passed ? "✓ right" : "**✗ WRONG**", f->out);
                else
                    put_number(f->out, row ? at->expected_correctness : at->correctness, 4);
                fputc(' ', f->out);
            }
            fputs("|\n", f->out);
        }
}

static void put_sizes(const struct pp_fill *f, const struct gr_result *r,
                      void (*put)(const struct pp_fill *, const struct gr_result *,
                                  const struct sizes *))
{
    const struct sizes s = find_sizes(r);
    if (!s.n) {
        fputs("> *Nothing to show.* No network was run: the checks before it did not pass.\n",
              f->out);
        return;
    }
    pp_put_caption(f, NULL);
    put(f, r, &s);
    if (s.n < 3 && put == put_op_times)
        fprintf(f->out,
                "\n> *Fewer than three sizes were run.* More: `./grader %s --images "
                "100,1000,10000`\n",
                f->section);
}

/* ---- ratios, output, points of the instructor ----------------------------------------------- */

static void put_ratios(const struct pp_fill *f, const struct gr_result *r)
{
    static const enum gr_subject subjects[] = {GR_SUBMISSION, GR_REFERENCE, GR_BASELINE,
                                               GR_PLAIN_LOOPS};
    const struct sizes s = find_sizes(r);
    size_t others = 0;
    for (size_t i = 0; i < r->timings; i++)
        others += r->timing[i].subject != GR_SUBMISSION;
    if (!others || !s.n) {
        fputs("> *Nothing to show.* Nothing else was timed beside this code.\n", f->out);
        return;
    }
    pp_put_caption(f, NULL);
    put_sizes_head(f, &s, "Op Times of all layers (ms)");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        bool any = false;
        for (size_t t = 0; t < r->timings; t++)
            any = any || r->timing[t].subject == subjects[i];
        if (!any)
            continue;
        put_model_cell(f, &s, r->inference[0].model);
        fprintf(f->out, "%s ", gr_subject_name(subjects[i]));
        for (size_t k = 0; k < s.n; k++) {
            const struct gr_op_time own = gr_op_time_sum(r, GR_SUBMISSION, s.images[k]);
            const struct gr_op_time sum = gr_op_time_sum(r, subjects[i], s.images[k]);
            fputs("| ", f->out);
            put_number(f->out, sum.layers ? sum.seconds * 1e3 : NAN, 4);
            const double ratio = gr_op_time_ratio(sum, own, NULL);
            if (subjects[i] != GR_SUBMISSION && isfinite(ratio)) {
                fputs(" (", f->out);
                put_number(f->out, ratio, 3);
                fputs("×)", f->out);
            }
            fputc(' ', f->out);
        }
        fputs("|\n", f->out);
    }
}

static void put_output(const struct pp_fill *f, const struct gr_result *r)
{
    if (r->course_lines[0])
        gr_put_markdown_block(f->out, r->course_lines);
    else
        fputs("> *Nothing to show.* No network was run.\n", f->out);
}

static void put_manual(const struct pp_fill *f, const struct gr_result *r)
{
    pp_put_caption(f, NULL);
    fputs("| Given by the instructor, from this report | Points |\n|---|---:|\n", f->out);
    for (size_t i = 0; i < r->manuals; i++) {
        fputs("| ", f->out);
        gr_put_markdown(f->out, r->manual[i].text[0] ? r->manual[i].text : r->manual[i].name);
        fprintf(f->out, " | \\_\\_\\_ / %g |\n", r->manual[i].max_points);
    }
}

bool pp_fill_result(const struct pp_fill *f)
{
    char command[160], what[600];
    const char *part = pp_attribute(f->piece, "part", f->piece->name);
    pp_make_command(f, command, sizeof command);
    if (!f->grading || !f->grading->there) {
        snprintf(what, sizeof what, "a grading of %s%s%s", f->section,
                 f->grading && f->grading->fault[0] ? ", as result.json cannot be read: " : "",
                 f->grading ? f->grading->fault : "");
        pp_put_missing(f, what, command);
        return true;
    }
    const struct gr_result *r = &f->grading->result;
    if (strcmp(part, "graded") == 0)
        put_graded(f, r);
    else if (strcmp(part, "checks") == 0)
        put_checks(f, r);
    else if (strcmp(part, "technique") == 0)
        put_technique(f, r);
    else if (strcmp(part, "op-times") == 0)
        put_sizes(f, r, put_op_times);
    else if (strcmp(part, "networks") == 0)
        put_sizes(f, r, put_networks);
    else if (strcmp(part, "ratios") == 0)
        put_ratios(f, r);
    else if (strcmp(part, "output") == 0)
        put_output(f, r);
    else if (strcmp(part, "manual") == 0)
        put_manual(f, r);
    else
        fprintf(f->out, "> *The template asks for a part of a result that there is not: %s.*\n",
                f->piece->name);
    return true;
}
