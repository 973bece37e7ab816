/* Prints the progress of a grading for people. */
#include "grader/stages/grading.h"

#include "base/progress.h"
#include "base/shown_path.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* Indents every line of a text. */
static void print_indented(FILE *out, const char *indent, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(out, "%s%.*s\n", indent, length, text);
        text += length + (text[length] == '\n');
    }
}

void gr_check_print(struct grading *g, struct gr_check *check)
{
    FILE *out = g->out;
    const struct exercise *exercise = g->milestone.exercise;
    progress_clear();
    if (strcmp(check->name, "builds") != 0) /* "builds" quotes the compiler's messages */
        exercise_say(exercise, check->message, sizeof check->message);
    exercise_say(exercise, check->hint, sizeof check->hint);
    exercise_say(exercise, check->lacks.text, sizeof check->lacks.text);
    static const char *const words[] = {"pass", "FAIL", "skip"};
    static const char *const colours[] = {"32", "31", "33"};
    bool colour = isatty(fileno(out));
    int first = (int)strcspn(check->message, "\n");
    fprintf(out, "  %s%s%s%s%s  %-16s %4g/%-4g %.*s\n", colour ? "\033[" : "",
            colour ? colours[check->status] : "", colour ? "m" : "", words[check->status],
            colour ? "\033[0m" : "", check->name, check->points, check->max_points, first,
            check->message);
    const char *rest = check->message + first;
    print_indented(out, "        ", rest + (*rest == '\n'));
    if (check->pattern[0])
        fprintf(out, "        pattern: %s (see ./grader explain %s)\n", check->pattern,
                check->pattern);
    if (check->hint[0])
        fprintf(out, "        hint: %s\n", check->hint);
    if (check->map[0])
        print_indented(out, "        | ", check->map);
    fflush(out);
}

void gr_course_line(struct grading *g, const char *line, ...)
{
    char text[160];
    va_list args;
    va_start(args, line);
    vsnprintf(text, sizeof text, line, args);
    va_end(args);
    progress_clear();
    fprintf(g->out, "%s\n", text);
    fflush(g->out);
    char *kept = g->result->course_lines;
    size_t used = strlen(kept);
    snprintf(kept + used, sizeof g->result->course_lines - used, "%s\n", text);
}

static void print_said(FILE *out, const char *who, const struct gr_said *said)
{
    if (!said->lines)
        return;
    fprintf(out, "\n%s printed %lu line%s:\n", who, said->lines, said->lines == 1 ? "" : "s");
    print_indented(out, "  > ", said->text);
    if (said->lines > said->lines_kept)
        fprintf(out, "  (%lu more not shown)\n", said->lines - said->lines_kept);
}

void gr_output_print(FILE *out, const struct gr_output *output, const char *source, bool is_short)
{
    struct gr_said device = output->device;
    paths_show(device.text, sizeof device.text, output->device.text, source);
    print_said(out, "Your code", &output->lab);
    if (!is_short)
        print_said(out, "The virtual GPU", &device);
}

void gr_score_print(FILE *out, const struct gr_result *r)
{
    const double unchecked = gr_unchecked_points(r);
    const char *before = " (";
    if (unchecked > 0)
        fprintf(out, "\nScore: %g of the %g automatic points checked in this run; %g not checked",
                r->score, r->max_score - unchecked, unchecked);
    else
        fprintf(out, "\nScore: %g of %g automatic points", r->score, r->max_score);
    for (size_t i = 0; unchecked > 0 && i < r->checks; i++) {
        if (r->check[i].required || r->check[i].max_points <= 0)
            continue;
        fprintf(out, "%s%s", before, r->check[i].name);
        before = ", ";
    }
    if (unchecked > 0)
        fputc(')', out);
    if (r->manuals)
        fprintf(out, "; the instructor gives %g more (%zu item%s)", r->manual_max, r->manuals,
                r->manuals == 1 ? "" : "s");
    fputc('\n', out);
}
