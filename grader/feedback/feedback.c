#include "grader/feedback/feedback.h"

#include "exercise/exercise.h"
#include "grader/report/report_markdown.h"
#include "grader/report/report_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char feedback_css[];

enum { FEWEST_TIMES = 5, BINS = 10, BAR = 16 };

/* ---- text ----------------------------------------------------------------------------------- */

/* Whether a path may begin at @p at: after a blank, a quote or a bracket, or at the start. */
static bool begins_path(const char *text, const char *at)
{
    return at[0] == '/' && (isalnum((unsigned char)at[1]) || at[1] == '.' || at[1] == '_') &&
           (at == text || strchr(" \t\n'\"`([=,:<", at[-1]));
}

void fb_put_without_paths(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (begins_path(text, at)) {
            const size_t length = strcspn(at, " \t\n'\"`)],:;<>");
            const char *name = at;
            for (size_t i = 0; i < length; i++)
                if (at[i] == '/')
                    name = at + i + 1;
            fwrite(name, 1, (size_t)(at + length - name), out);
            at += length - 1;
        } else {
            fputc(*at, out);
        }
    }
}

/* Writes text with Markdown's marks escaped, for names and comments. */
static void put_plain(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strchr("\\`*_[]<>|~#&@", *at))
            fputc('\\', out);
        fputc(*at == '\n' || *at == '\r' ? ' ' : *at, out);
    }
}

/* Whether a line may name a private shape, that is, one of --shapes. */
static bool may_name_shape(const char *line, size_t length)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    return strstr(text, "B=") || strstr(text, "M=") || strstr(text, "K=") ||
           strcasestr(text, "shape B") || strstr(text, " > ") || strstr(text, " < ");
}

/* Writes a message as a separate block, whatever it contains; if shapes are private, only its first
 * line. */
static void put_block(FILE *out, const char *text, bool shapes_are_private)
{
    size_t fence = 3, run = 0;
    for (const char *at = text; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    for (size_t i = 0; i < fence; i++)
        fputc('`', out);
    fputs("text\n", out);
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        if (copy && !(shapes_are_private && (line > text || may_name_shape(line, length)))) {
            fb_put_without_paths(out, copy);
            fputc('\n', out);
        }
        free(copy);
        line += length + (line[length] == '\n');
    }
    if (shapes_are_private && strchr(text, '\n'))
        fputs("(the instructor's shapes are not shown)\n", out);
    for (size_t i = 0; i < fence; i++)
        fputc('`', out);
    fputs("\n\n", out);
}

/* ---- one milestone -------------------------------------------------------------------------- */

static void put_number(FILE *out, double points)
{
    if (isfinite(points))
        fprintf(out, "%g", points);
    else
        fputs("\xe2\x80\x93", out);
}

static void put_checks(FILE *out, const struct gb_check_result_list *checks)
{
    fputs("| check | points | |\n|---|---:|---|\n", out);
    for (size_t i = 0; i < checks->n; i++) {
        const struct gb_check_result *c = &checks->row[i];
        fputs("| ", out);
        put_plain(out, c->text);
        fprintf(out, " | %g of %g | %s |\n", isfinite(c->points) ? c->points : 0,
                isfinite(c->max_points) ? c->max_points : 0,
                strcmp(c->status, "pass") == 0   ? "passed"
                : strcmp(c->status, "fail") == 0 ? "**failed**"
                : c->required                    ? "not run"
                                                 : "not checked");
    }
    fputc('\n', out);
}

static void put_failure(FILE *out, const struct gb_attempt *a, const struct gb_check_result *c)
{
    const bool private = strstr(a->options, "--shapes") != NULL;
    fprintf(out, "**%s**\n\n", c->name);
    put_block(out, c->message, private && strcmp(c->name, "builds") != 0);
    if (c->hint[0] && !(private && may_name_shape(c->hint, strlen(c->hint)))) {
        fputs("Hint: ", out);
        put_plain(out, c->hint);
        fputs("\n\n", out);
    }
    if (c->pattern[0])
        fprintf(
            out,
            "For the cause of the mistake, an example and the fix, run: `./grader explain %s`\n\n",
            c->pattern);
}

/* Writes the failed checks, each with the command that repeats it at home. */
static void put_failures(FILE *out, const struct gb_attempt *a,
                         const struct gb_check_result_list *checks)
{
    bool any = false;
    for (size_t i = 0; i < checks->n; i++)
        if (strcmp(checks->row[i].status, "fail") == 0) {
            if (!any)
                fputs("### Failed checks, and how to find the mistakes\n\n", out);
            any = true;
            put_failure(out, a, &checks->row[i]);
        }
    if (any)
        fprintf(out, "To see the failures on your machine, run: `./grader %s --seed %lld`\n\n",
                a->milestone, (long long)a->seed);
}

static void put_manual(FILE *out, const struct sd_class *class, const struct sd_milestone *m,
                       const struct sd_points *p)
{
    if (m->items)
        fputs("### Graded by hand\n\n", out);
    for (size_t i = 0; i < m->items; i++) {
        const struct gb_manual_item *item = sd_item_of(class, p->submission, m->id, m->item[i].id);
        fputs("- ", out);
        put_plain(out, m->item[i].text);
        if (item && isfinite(item->points))
            fprintf(out, ": **%g of %g**", item->points, m->item[i].points);
        else
            fprintf(out, ": not graded yet (of %g)", m->item[i].points);
        if (item && item->comment[0]) {
            fputs("  \n  ", out);
            put_plain(out, item->comment);
        }
        fputc('\n', out);
    }
    const struct gb_manual_item *comment = sd_item_of(class, p->submission, m->id, "comment");
    if (comment && comment->comment[0]) {
        fputs("\n> ", out);
        put_plain(out, comment->comment);
        fputc('\n', out);
    }
    fputc('\n', out);
}

/* ---- times ---------------------------------------------------------------------------------- */

static size_t bin_of(const struct sd_milestone *m, double time_s)
{
    const double low = log(m->time_s[0]), high = log(m->time_s[m->times - 1]);
    const double at = high > low ? (log(time_s) - low) / (high - low) * BINS : 0;
    return at >= BINS ? BINS - 1 : (size_t)at;
}

/* Writes the class's times in bins that grow by a constant factor. (If there are few times, a bin
 * would identify a student.) */
static void put_times(FILE *out, const struct sd_milestone *m, double own_s)
{
    size_t count[BINS] = {0}, most = 1, faster = 0;
    if (!isfinite(own_s))
        return;
    const struct exercise *exercise = exercise_of(m->id);
    char size[EXERCISE_TEXT];
    fprintf(out, "### Op Time\n\n%.4g ms at %s%s.", 1e3 * own_s,
            exercise_size(exercise, m->images, size),
            exercise->square ? "" : ", all convolution layers together");
    if (m->times < FEWEST_TIMES) {
        fputs("\n\n", out);
        return;
    }
    for (size_t i = 0; i < m->times; i++) {
        faster += m->time_s[i] < own_s;
        const size_t n = ++count[bin_of(m, m->time_s[i])];
        most = n > most ? n : most;
    }
    fprintf(out, " In the class, %zu of %zu times %s shorter.\n\n```text\n", faster, m->times,
            faster == 1 ? "is" : "are");
    const double low = log(m->time_s[0]), step = (log(m->time_s[m->times - 1]) - low) / BINS;
    for (size_t b = 0; b < BINS; b++) {
        if (step <= 0 && b > 0)
            break;
        fprintf(out, "%8.4g ms |", 1e3 * exp(low + (double)b * step));
        for (size_t i = 0; i < (count[b] * BAR + most - 1) / most; i++)
            fputc('#', out);
        fprintf(out, " %zu%s\n", count[b], b == bin_of(m, own_s) ? "  <- you" : "");
    }
    fputs("```\n\n", out);
}

/* ---- the whole page ------------------------------------------------------------------------- */

static enum st_code put_milestone(FILE *out, const struct sd_class *class,
                                  const struct sd_student *student, size_t which,
                                  struct gradebook *book, struct st_error *err)
{
    const struct sd_milestone *m = &class->milestone[which];
    const struct sd_points *p = &student->milestone[which];
    struct gb_check_result_list checks = {0};
    if (!p->grade)
        return ST_OK;
    enum st_code code = gb_check_result_read(
        book, &checks, err, "WHERE attempt = %lld ORDER BY position", (long long)p->grade->attempt);
    if (code)
        return code;
    fprintf(out, "## %s: ", m->id);
    put_number(out, p->total);
    fprintf(out, " of %g points\n\n", m->automatic + m->manual);
    if (strcmp(p->submission, student->name) != 0) {
        fputs("Handed in by the team ", out);
        put_plain(out, p->submission);
        fputs(".\n\n", out);
    }
    fputs("Automatic checks: ", out);
    put_number(out, p->automatic);
    fprintf(out, " of %g", m->automatic);
    if (p->unchecked > 0)
        fprintf(out, " (%g not checked)", p->unchecked);
    fprintf(out, ". By hand: %g of %g%s.\n\n", p->manual, m->manual,
            p->open ? ", not all graded yet" : "");
    if (p->late && p->late->reason[0])
        fprintf(out, "Late: %s.\n\n", p->late->reason);
    if (strcmp(p->grade->status, "fault") == 0)
        fputs("It is not graded yet. This is not your fault.\n\n", out);
    else if (!checks.n && p->attempt)
        put_block(out, p->attempt->message, false);
    if (checks.n)
        put_checks(out, &checks);
    if (p->attempt)
        put_failures(out, p->attempt, &checks);
    put_times(out, m, p->op_time_s);
    put_manual(out, class, m, p);
    gb_check_result_free(&checks);
    return ST_OK;
}

enum st_code fb_markdown_write(FILE *out, const struct sd_class *class,
                               const struct sd_student *student, const char *only,
                               struct gradebook *book, struct st_error *err)
{
    enum st_code code = ST_OK;
    fputs("# ", out);
    put_plain(out, student->display_name[0] ? student->display_name : student->name);
    fputs("\n\n", out);
    for (size_t m = 0; !code && m < class->milestones; m++)
        if (!only || strcmp(only, class->milestone[m].id) == 0)
            code = put_milestone(out, class, student, m, book, err);
    return code;
}

void fb_html_write(FILE *out, const char *title, const char *markdown, size_t bytes)
{
    gr_html_begin(out, title, feedback_css);
    gr_html_put_markdown(out, markdown, bytes, false, "/dev/null");
    gr_html_end(out);
}
