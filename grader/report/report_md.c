/* report.md: the page of a grading. GitHub-flavoured Markdown, readable as text.
 *
 * Order: what was graded, is it right (checks, findings, networks), how fast is it (tables and
 * figures), what it printed, and what is left for the instructor. Every string of the record goes
 * through gr_put_markdown() or one of its kin. */
#include "base/files.h"
#include "grader/report/profile_sections.h"
#include "grader/report/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct page {
    FILE *out;
    const struct gr_result *result;
    const struct gr_summary *summary;
    const struct gr_plots *plots;
    int tables, figures; /* numbered so far */
};

static void put_number(struct page *p, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "–", p->out);
}

/* Points are mostly whole; "12.5" otherwise. */
static void put_points(struct page *p, double points)
{
    char text[NUMBER_CHARS];
    if (isfinite(points) && points == floor(points) && fabs(points) < 1e9)
        fprintf(p->out, "%.0f", points);
    else
        fputs(number_short(text, points, 3), p->out);
}

static void table_caption(struct page *p, const char *text)
{
    fprintf(p->out, "**Table %d.** %s\n\n", ++p->tables, text);
}

/* ---- what was graded ------------------------------------------------------------------------ */

static void fact(struct page *p, const char *name, const char *text, bool code)
{
    if (!text[0])
        return;
    fprintf(p->out, "| **%s** | ", name);
    (code ? gr_put_markdown_code : gr_put_markdown)(p->out, text);
    fputs(" |\n", p->out);
}

static void put_head(struct page *p, const char *kept)
{
    const struct gr_result *r = p->result;
    fputs("# Milestone ", p->out);
    gr_put_markdown(p->out, r->milestone);
    if (r->title[0]) {
        fputs(": ", p->out);
        gr_put_markdown(p->out, r->title);
    }
    fputs("\n\n", p->out);
    if (kept)
        fprintf(
            p->out,
            "> **Note.** The earlier page had been changed by hand. It is kept as `%s`. Your own "
            "words belong\n> into your report, which `./grader report` makes.\n\n",
            kept);
    fputs("**Automatic checks: ", p->out);
    put_points(p, r->score);
    fputs(" of ", p->out);
    put_points(p, r->max_score);
    fputs(" points.**", p->out);
    if (r->manuals) {
        fputs(" A further ", p->out);
        put_points(p, r->manual_max);
        fputs(" points are left for the instructor.", p->out);
    }
    fputs("\n\n| | |\n|---|---|\n", p->out);
    fact(p, "Technique", r->technique, false);
    fputs("| **Graded** | ", p->out);
    gr_put_markdown(p->out, r->subject);
    if (r->source[0]) {
        fputs(", ", p->out);
        gr_put_markdown_code(p->out, r->source);
    }
    fputs(" |\n", p->out);
    fact(p, "Not sandboxed", r->not_sandboxed, false);
    fact(p, "Machine", r->machine, false);
    fact(p, "Device", r->device, false);
    fact(p, "GPU profile", r->profile, false);
    fact(p, "Timed on", r->timed_on, false);
    fact(p, "Compiler", r->compiler, false);
    fprintf(p->out, "| **Seed** | %" PRIu64 " |\n", r->seed);
    fact(p, "ConvLab", r->version, false);
    fact(p, "Date", r->date, false);
    fact(p, "Command", r->command, true);
}

/* ---- is it right ---------------------------------------------------------------------------- */

static const char *status_mark(enum gr_status status)
{
    return status == GR_PASS ? "✓ pass" : status == GR_FAIL ? "**✗ FAIL**" : "– skip";
}

static void put_checks_table(struct page *p)
{
    table_caption(p, "The automatic checks and their points.");
    fputs("| Check | Result | Points | Found |\n|---|---|---:|---|\n", p->out);
    for (size_t i = 0; i < p->result->checks; i++) {
        const struct gr_check *c = &p->result->check[i];
        fputs("| ", p->out);
        gr_put_markdown(p->out, c->text[0] ? c->text : c->name);
        fprintf(p->out, " | %s | ", status_mark(c->status));
        put_points(p, c->points);
        fputs(" / ", p->out);
        put_points(p, c->max_points);
        fputs(" | ", p->out);
        if (c->status == GR_FAIL)
            fputs("see below", p->out);
        else
            gr_put_markdown(p->out, c->message);
        fputs(" |\n", p->out);
    }
    fputs("\n", p->out);
}

/* The first line of a message is a sentence; what follows (a compiler's lines, say) is set as it
 * was printed. */
static void put_message(struct page *p, const char *message)
{
    const char *newline = strchr(message, '\n');
    if (!newline) {
        gr_put_markdown(p->out, message);
        fputs("\n\n", p->out);
        return;
    }
    char first[sizeof p->result->check->message];
    snprintf(first, sizeof first, "%.*s", (int)(newline - message), message);
    gr_put_markdown(p->out, first);
    fputs("\n\n", p->out);
    if (strspn(newline, "\n ") != strlen(newline)) {
        gr_put_markdown_block(p->out, newline + 1);
        fputs("\n", p->out);
    }
}

static void put_finding(struct page *p, const struct gr_check *c)
{
    fputs("### Failed: ", p->out);
    gr_put_markdown(p->out, c->text[0] ? c->text : c->name);
    fputs("\n\n**Found:** ", p->out);
    put_message(p, c->message[0] ? c->message : "the check failed.");
    if (c->pattern[0]) {
        fputs("**Pattern:** ", p->out);
        gr_put_markdown_code(p->out, c->pattern);
        fputs("\n\n", p->out);
    }
    if (c->hint[0]) {
        fputs("> **Hint:** ", p->out);
        gr_put_markdown(p->out, c->hint);
        fputs("\n\n", p->out);
    }
    if (c->map[0]) {
        gr_put_markdown_block(p->out, c->map);
        fputs("\n", p->out);
    }
}

static void put_inference_table(struct page *p)
{
    if (!p->result->inferences)
        return;
    table_caption(p, "Classification of test images. *Correctness* is the share of images "
                     "classified right, *expected* what exact arithmetic gives, *largest error* "
                     "the largest difference of an output element from the expected one.");
    fputs("| Model | Images | Correctness | Expected | Largest error | Outputs |\n"
          "|---|---:|---:|---:|---:|---|\n",
          p->out);
    for (size_t i = 0; i < p->result->inferences; i++) {
        const struct gr_inference *inference = &p->result->inference[i];
        fputs("| ", p->out);
        gr_put_markdown(p->out, inference->model);
        fprintf(p->out, " | %zu | ", inference->images);
        put_number(p, inference->correctness, 4);
        fputs(" | ", p->out);
        put_number(p, inference->expected_correctness, 4);
        if (isfinite(inference->max_error))
            fprintf(p->out, " | %.1e | ", inference->max_error);
        else
            fputs(" | – | ", p->out);
        fprintf(p->out, "%s |\n", inference->passed ? "✓ right" : "**✗ WRONG**");
    }
    fputs("\n", p->out);
}

static void put_correctness(struct page *p)
{
    const struct gr_result *r = p->result;
    fputs("\n## Correctness\n\n", p->out);
    put_checks_table(p);
    if (r->unit_shapes) {
        fprintf(p->out, "%zu of %zu unit shapes were right", r->unit_shapes_right, r->unit_shapes);
        if (isfinite(r->max_error))
            fprintf(p->out, "; the largest error over all compared elements is %.1e", r->max_error);
        fputs(".\n\n", p->out);
    }
    for (size_t i = 0; i < r->checks; i++)
        if (r->check[i].status == GR_FAIL)
            put_finding(p, &r->check[i]);
    put_inference_table(p);
}

/* ---- how fast is it ------------------------------------------------------------------------- */

static void put_op_table(struct page *p)
{
    const struct gr_summary *s = p->summary;
    table_caption(p, "Op Time of each convolution: the time inside `conv_forward`, the median of "
                     "the repeats. A shape is input maps × height × width, output maps @ filter "
                     "width; 1 GMAC is 10⁹ multiply-add operations.");
    fprintf(p->out, "| %sImages | Layer | Shape | Op Time (ms) | Fastest–slowest (ms) | GMAC/s |\n",
            s->one_model ? "" : "Model | ");
    fprintf(p->out, "|%s---:|---:|---|---:|---:|---:|\n", s->one_model ? "" : "---|");
    for (size_t i = 0; i < s->op_rows; i++) {
        const struct gr_op_row *row = &s->op[i];
        char shape[64];
        fputs("| ", p->out);
        if (!s->one_model) {
            gr_put_markdown(p->out, row->model);
            fputs(" | ", p->out);
        }
        fprintf(p->out, "%zu | %d | %s | ", row->images, row->layer,
                gr_shape_text(shape, &row->shape, "×"));
        put_number(p, row->op_time_s * 1e3, 4);
        fputs(" | ", p->out);
        put_number(p, row->min_s * 1e3, 4);
        fputs("–", p->out);
        put_number(p, row->max_s * 1e3, 4);
        fputs(" | ", p->out);
        put_number(p, row->gmac_per_s, 3);
        fprintf(p->out, "%s |\n", row->passed ? "" : " (outputs wrong)");
    }
    fputs("\n", p->out);
}

static void put_ratio_cell(struct page *p, double ratio)
{
    put_number(p, ratio, 3);
    fputs(isfinite(ratio) ? "× |" : " |", p->out);
}

static bool has_plain_loops(const struct gr_summary *s)
{
    for (size_t i = 0; i < s->speed_rows; i++)
        if (isfinite(s->speed[i].plain_s))
            return true;
    return false;
}

static void put_speed_table(struct page *p)
{
    const struct gr_summary *s = p->summary;
    bool reference = false;
    for (size_t i = 0; i < s->speed_rows; i++)
        reference = reference || isfinite(s->speed[i].reference_s);
    table_caption(p, reference ? "Op Times of one run on one machine: the plain loops (the "
                                 "convolution as its definition reads, on one core), the graded "
                                 "code and the reference solution, and their ratios."
                               : "Op Times of one run on one machine: the plain loops (the "
                                 "convolution as its definition reads, on one core) and the graded "
                                 "code, and their ratio.");
    fprintf(p->out,
            "| %sImages | Layer | Plain loops (ms) | %c%s (ms) |%s Speed-up over plain "
            "loops |%s\n",
            s->one_model ? "" : "Model | ", s->graded_name[0] - 'a' + 'A', s->graded_name + 1,
            reference ? " Reference (ms) |" : "",
            reference ? " Speed relative to reference |" : "");
    fprintf(p->out, "|%s---:|---:|---:|---:|%s---:|%s\n", s->one_model ? "" : "---|",
            reference ? "---:|" : "", reference ? "---:|" : "");
    for (size_t i = 0; i < s->speed_rows; i++) {
        const struct gr_speed_row *row = &s->speed[i];
        fputs("| ", p->out);
        if (!s->one_model) {
            gr_put_markdown(p->out, row->model);
            fputs(" | ", p->out);
        }
        fprintf(p->out, "%zu | %d | ", row->images, row->layer);
        put_number(p, row->plain_s * 1e3, 4);
        fputs(" | ", p->out);
        put_number(p, row->graded_s * 1e3, 4);
        fputs(" | ", p->out);
        if (reference) {
            put_number(p, row->reference_s * 1e3, 4);
            fputs(" | ", p->out);
        }
        put_ratio_cell(p, row->plain_s / row->graded_s);
        if (reference)
            fputs(" ", p->out), put_ratio_cell(p, row->reference_s / row->graded_s);
        fputs("\n", p->out);
    }
    fputs("\n", p->out);
}

/* Picture and caption are one paragraph, so that they stay together. @param caption  sentences, or
 * NULL for the plot's own. */
static void put_figure(struct page *p, const struct gr_plot *plot, const char *caption)
{
    if (!plot)
        return;
    if (plot->reason[0]) {
        for (const struct gr_plot *earlier = p->plots->plot; earlier < plot; earlier++)
            if (strcmp(earlier->reason, plot->reason) == 0)
                return; /* said already */
        fprintf(p->out, "*%s*\n\n", plot->reason);
        return;
    }
    fputs("![", p->out);
    gr_put_markdown(p->out, plot->title);
    fprintf(p->out, "](plots/%s.svg)\\\n*Figure %d. ", plot->name, ++p->figures);
    gr_put_markdown(p->out, caption ? caption : plot->caption);
    if (caption && p->result->machine[0]) {
        fputs(" Measured on: ", p->out);
        gr_put_markdown(p->out, p->result->machine);
        fputs(".", p->out);
    }
    fputs("*\n\n", p->out);
}

/* Those that have no other place on the page. */
static void put_more_figures(struct page *p)
{
    for (size_t i = 0; i < p->plots->n; i++) {
        const struct gr_plot *plot = &p->plots->plot[i];
        if (strcmp(plot->name, "op-times") != 0 && strcmp(plot->name, "speed-up") != 0 &&
            !plot->reason[0])
            put_figure(p, plot, NULL);
    }
}

static void put_performance(struct page *p)
{
    fputs("## Performance\n\n", p->out);
    if (!p->summary->op_rows) {
        fputs("No network was run, so there are no Op Times.\n\n", p->out);
        return;
    }
    put_op_table(p);
    put_figure(p, gr_plots_find(p->plots, "op-times"),
               "Op Time against the number of images, one line for each convolution layer, both "
               "axes logarithmic. Inferences with wrong outputs are left out.");
    if (has_plain_loops(p->summary))
        put_speed_table(p);
    gr_ratios_markdown(p->out, p->result, &p->tables);
    put_figure(p, gr_plots_find(p->plots, "speed-up"), NULL);
    put_more_figures(p);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void put_output(struct page *p)
{
    if (!p->result->course_lines[0])
        return;
    fputs("## Output\n\n", p->out);
    gr_put_markdown_block(p->out, p->result->course_lines);
    fputs("\n", p->out);
}

static void put_manual(struct page *p)
{
    const struct gr_result *r = p->result;
    if (!r->manuals)
        return;
    fputs("## Left for the instructor\n\n", p->out);
    fputs("These points are given by a person who reads your report, which "
          "`./grader report` makes.\n\n",
          p->out);
    table_caption(p, "Items graded by the instructor.");
    fputs("| Item | Points |\n|---|---:|\n", p->out);
    for (size_t i = 0; i < r->manuals; i++) {
        fputs("| ", p->out);
        gr_put_markdown(p->out, r->manual[i].text[0] ? r->manual[i].text : r->manual[i].name);
        fputs(" | \\_\\_\\_ / ", p->out);
        put_points(p, r->manual[i].max_points);
        fputs(" |\n", p->out);
    }
    fputs("\n", p->out);
}

void gr_markdown_write(FILE *out, const struct gr_result *result, const struct gr_summary *summary,
                       const struct gr_plots *plots, const char *kept, const char *folder)
{
    struct page page = {out, result, summary, plots, 0, 0};
    put_head(&page, kept);
    put_correctness(&page);
    gr_evidence_markdown(out, result, &page.tables);
    put_performance(&page);
    char profile[PATH_MAX];
    if (path_format(profile, sizeof profile, "%s/profile", folder))
        gr_profile_markdown(out, profile, &page.tables);
    put_output(&page);
    put_manual(&page);
}
