/* Parts of one grading's record: the graded code, the checks, the failures, the technique. */
#include "grader/report/block.h"
#include "grader/report/report_cells.h"
#include "grader/report/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graded code ------------------------------------------------------------------------- */

static bool put_title(const struct gr_block *b, const struct gr_result *r)
{
    fputs("# Milestone ", b->out);
    gr_put_markdown(b->out, r->milestone);
    if (r->title[0])
        fputs(": ", b->out);
    gr_put_markdown(b->out, r->title);
    fputc('\n', b->out);
    return true;
}

static bool put_score(const struct gr_block *b, const struct gr_result *r)
{
    const double unchecked = gr_unchecked_points(r);
    if (unchecked > 0)
        fprintf(b->out,
                "**Automatic checks: %g of the %g points checked in this run, %g not checked.**",
                r->score, r->max_score - unchecked, unchecked);
    else
        fprintf(b->out, "**Automatic checks: %g of %g points.**", r->score, r->max_score);
    if (r->manuals)
        fprintf(b->out, " The instructor gives a further %g points.", r->manual_max);
    fputc('\n', b->out);
    return true;
}

static void put_warnings(const struct gr_block *b, const struct gr_result *r)
{
    char command[GR_COMMAND];
    gr_make_command(b, command);
    if (b->grading->stale) {
        fputs("> **Out of date.** ", b->out);
        gr_put_markdown_code(b->out, r->source);
        fprintf(b->out,
                " was changed after it was graded. The rest describes the earlier version; "
                "`%s` renews it.\n\n",
                command);
    }
    if (b->src && strcmp(r->subject, "reference") == 0)
        fprintf(
            b->out,
            "> **Not your work.** The last grading was of the reference solution; `%s` grades yours.\n\n",
            command);
}

static void put_fact(struct gr_cells *t, const char *name, const char *text, bool code)
{
    if (!text[0])
        return;
    gr_cell_strong(t, name);
    (code ? gr_cell_code : gr_cell)(t, text);
    gr_row_end(t);
}

static void put_subject(struct gr_cells *t, const struct gr_result *r)
{
    gr_cell_strong(t, "Graded");
    gr_cell_begin(t);
    gr_put_markdown(t->out, r->subject);
    if (r->source[0]) {
        fputs(", ", t->out);
        gr_put_markdown_code(t->out, r->source);
    }
    gr_cell_end(t);
    gr_row_end(t);
}

/* Writes "version `1f09a2b4`", and which rows of the page come from earlier gradings of this
 * version. */
static void put_version(struct gr_cells *t, const struct gr_result *r)
{
    char hash[GR_SHORT_HASH + 1];
    bool kept = false;
    put_fact(t, "Version", gr_short_hash(hash, r), true);
    for (size_t i = 0; i < r->inferences; i++)
        kept = kept || r->inference[i].graded[0];
    if (!kept)
        return;
    gr_cell_strong(t, "Kept from earlier gradings");
    gr_cell_begin(t);
    for (size_t i = 0, n = 0; i < r->inferences; i++)
        if (r->inference[i].graded[0])
            fprintf(t->out, "%s%zu images (", n++ ? ", " : "", r->inference[i].images),
                gr_put_markdown(t->out, r->inference[i].graded), fputc(')', t->out);
    gr_cell_end(t);
    gr_row_end(t);
}

/* facts="all" includes facts that a reader of the student's report does not need. */
static bool put_graded(const struct gr_block *b, const struct gr_result *r)
{
    const bool all = gr_attribute_is(b->piece, "facts", "all");
    char points[64], seed[24];
    snprintf(points, sizeof points, "%g of %g", r->score, r->max_score);
    snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
    put_warnings(b, r);
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "%s", "");
    gr_column(&t, 'l', "%s", "");
    gr_columns_end(&t);
    put_fact(&t, "Technique", all ? r->technique : "", false);
    put_subject(&t, r);
    put_version(&t, r);
    put_fact(&t, "Automatic points", all ? "" : points, false);
    put_fact(&t, "Not sandboxed", all ? r->not_sandboxed : "", false);
    put_fact(&t, "Machine", r->machine, false);
    put_fact(&t, "Device", r->device, false);
    put_fact(&t, "GPU profile", strstr(r->machine, r->profile) ? "" : r->profile, false);
    put_fact(&t, "Timed on", all ? r->timed_on : "", false);
    put_fact(&t, "Compiler", r->compiler, false);
    put_fact(&t, "ConvLab", all ? r->version : "", false);
    put_fact(&t, "Date", r->date, false);
    put_fact(&t, "Seed", seed, false);
    put_fact(&t, "Command", all ? r->command : "", true);
    return true;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *check_text(const struct gr_check *c)
{
    return c->text[0] ? c->text : c->name;
}

/* The first line of a message is a sentence; more lines may follow, for example a compiler's. */
static void put_first_line(FILE *out, const char *message)
{
    char *first = strndup(message, strcspn(message, "\n"));
    gr_put_markdown(out, first ? first : "");
    free(first);
}

void gr_check_cells(struct gr_cells *t, const struct gr_check *c)
{
    static const char *const mark[] = {[GR_PASS] = "✓ pass", [GR_SKIP] = "– skip"};
    gr_cell(t, check_text(c));
    if (c->status == GR_FAIL)
        gr_cell_strong(t, "✗ FAIL");
    else
        gr_cell(t, mark[c->status]);
    gr_cell_print(t, "%g / %g", c->points, c->max_points);
}

static bool put_checks(const struct gr_block *b, const struct gr_result *r)
{
    gr_put_caption(b, NULL);
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "Check");
    gr_column(&t, 'l', "Result");
    gr_column(&t, 'r', "Points");
    gr_column(&t, 'l', "Found");
    gr_columns_end(&t);
    for (size_t i = 0; i < r->checks; i++) {
        gr_check_cells(&t, &r->check[i]);
        gr_cell_begin(&t);
        if (r->check[i].status == GR_FAIL && !b->src)
            fputs("see below", b->out);
        else
            put_first_line(b->out, r->check[i].message);
        if (r->check[i].graded[0])
            fputs(" (graded ", b->out), gr_put_markdown(b->out, r->check[i].graded),
                fputc(')', b->out);
        gr_cell_end(&t);
        gr_row_end(&t);
    }
    return true;
}

static bool put_shapes(const struct gr_block *b, const struct gr_result *r)
{
    if (!r->unit_shapes)
        return false;
    fprintf(b->out, "%zu of %zu unit shapes were right", r->unit_shapes_right, r->unit_shapes);
    if (isfinite(r->max_error))
        fprintf(b->out, "; the largest error over all compared elements is %.1e", r->max_error);
    fputs(".\n", b->out);
    return true;
}

static void put_lines(FILE *out, const char *from, const char *end)
{
    char *lines = end > from ? strndup(from, (size_t)(end - from)) : NULL;
    if (lines && lines[strspn(lines, "\n ")]) {
        gr_put_markdown_block(out, lines);
        fputc('\n', out);
    }
    free(lines);
}

/* Puts the evidence into blocks of code, but sentences into paragraphs, because blocks are not
 * wrapped: the diagnosis, and long lines about one output. */
static void put_evidence(FILE *out, const char *message)
{
    enum { LONG = 100 };
    static const char diagnosis[] = "diagnosis: ", indent[] = "    ";
    const char *block = message;
    for (const char *line = message, *next; *line; line = next) {
        const size_t chars = strcspn(line, "\n");
        const bool names = strncmp(line, diagnosis, strlen(diagnosis)) == 0;
        next = line + chars + (line[chars] == '\n');
        if (!names && (strncmp(line, indent, strlen(indent)) != 0 || chars < LONG))
            continue;
        put_lines(out, block, line);
        block = next;
        char *sentence = strndup(line, chars);
        fputs(names ? "**Diagnosis:** " : "", out);
        gr_put_markdown(out, sentence ? sentence + strlen(names ? diagnosis : indent) : "");
        fputs("\n\n", out);
        free(sentence);
    }
    put_lines(out, block, block + strlen(block));
}

static void put_failed_check(FILE *out, const struct gr_check *c)
{
    const char *message = c->message[0] ? c->message : "the check failed.";
    const char *more = message + strcspn(message, "\n");
    fputs("### Failed: ", out);
    gr_put_markdown(out, check_text(c));
    fputs("\n\n**Found:** ", out);
    put_first_line(out, message);
    fputs("\n\n", out);
    if (more[0])
        put_evidence(out, more + 1);
    if (c->pattern[0]) {
        fputs("**Pattern:** ", out);
        gr_put_markdown_code(out, c->pattern);
        fputs("\n\n", out);
    }
    if (c->hint[0]) {
        fputs("> **Hint:** ", out);
        gr_put_markdown(out, c->hint);
        fputs("\n\n", out);
    }
    if (c->map[0]) {
        gr_put_markdown_block(out, c->map);
        fputc('\n', out);
    }
}

static bool put_failed(const struct gr_block *b, const struct gr_result *r)
{
    bool any = false;
    for (size_t i = 0; i < r->checks; i++) {
        if (r->check[i].status != GR_FAIL)
            continue;
        put_failed_check(b->out, &r->check[i]);
        any = true;
    }
    return any || gr_put_nothing(b, "No check failed.");
}

/* ---- technique, output, points of the instructor --------------------------------------------- */

static bool put_technique(const struct gr_block *b, const struct gr_result *r)
{
    if (!r->evidences)
        return gr_put_nothing(
            b,
            "No technique was judged in this grading: CPU milestones have none, and only right results are judged.");
    gr_put_caption(b, NULL);
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "%s", "");
    gr_column(&t, 'l', "Measured, and in brackets the requirement");
    gr_columns_end(&t);
    for (size_t i = 0; i < r->evidences; i++) {
        if (r->evidence[i].holds)
            gr_cell(&t, "✓");
        else
            gr_cell_strong(&t, "✗");
        gr_cell(&t, r->evidence[i].text);
        gr_row_end(&t);
    }
    return true;
}

static bool put_output(const struct gr_block *b, const struct gr_result *r)
{
    if (!r->course_lines[0])
        return gr_put_nothing(b, "No network was run.");
    gr_put_markdown_block(b->out, r->course_lines);
    return true;
}

void gr_manual_cells(struct gr_cells *t, const struct gr_manual *item, const char *result)
{
    gr_cell(t, item->text[0] ? item->text : item->name);
    if (result)
        gr_cell(t, result);
    gr_cell_print(t, "___ / %g", item->max_points);
}

static bool put_manual(const struct gr_block *b, const struct gr_result *r)
{
    if (!r->manuals)
        return gr_put_nothing(b, "The instructor gives no points in this milestone.");
    gr_put_caption(b, NULL);
    struct gr_cells t = {.out = b->out};
    gr_column(&t, 'l', "Points of the instructor, for the report");
    gr_column(&t, 'r', "Points");
    gr_columns_end(&t);
    for (size_t i = 0; i < r->manuals; i++) {
        gr_manual_cells(&t, &r->manual[i], NULL);
        gr_row_end(&t);
    }
    return true;
}

/* ---- all parts ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*put)(const struct gr_block *, const struct gr_result *);
} parts[] = {
    {"title", put_title},
    {"score", put_score},
    {"graded", put_graded},
    {"checks", put_checks},
    {"shapes", put_shapes},
    {"failed", put_failed},
    {"technique", put_technique},
    {"output", put_output},
    {"manual", put_manual},
    {"networks", gr_block_networks},
    {"op-times", gr_block_op_times},
    {"ratios", gr_block_ratios},
    {"layers", gr_block_layers},
};

bool gr_block_result(const struct gr_block *b)
{
    const char *part = gr_attribute(b->piece, "part", b->piece->name);
    const struct gr_grading *g = b->grading;
    if (!g || !g->result) {
        char command[GR_COMMAND], what[600];
        gr_make_command(b, command);
        snprintf(what, sizeof what, "a grading of %s%s%s", b->section,
                 g && g->fault[0] ? ", as result.json cannot be read: " : "", g ? g->fault : "");
        return gr_put_missing(b, what, command);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, part) == 0)
            return parts[i].put(b, g->result);
    fprintf(b->out, "> *The template requests an unknown part of a result: %s.*\n", part);
    return false;
}
