/* grader final: the course's grades, as a table. */
#include "grader/class/class_names.h"
#include "grader/class/final.h"

#include "base/checkout.h"
#include "base/printable.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/tsv.h"
#include "grader/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

int gr_command_final(int argc, char **argv);

enum { EXIT_DONE = 0, EXIT_FAILED = 2 };

struct arguments {
    const char *gradebook, *weights, *out;
    enum sd_unchecked unchecked;
};

static void write_header(FILE *out, const struct cl_weights *w)
{
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, "student");
    tsv_row_add_text(&row, "submission");
    for (size_t p = 0; p < w->parts; p++)
        tsv_row_add_text(&row, w->part[p].name);
    tsv_row_add_text(&row, "final");
    tsv_row_add_text(&row, "open_items");
    tsv_row_add_text(&row, "faults");
    tsv_row_write(&row, out);
}

enum { NAME_SHOWN_BYTES = 4 * CL_NAME_BYTES + 1 };

/* Makes a name safe for a spreadsheet and for a terminal, where the table may be opened. */
static const char *harmless(char to[NAME_SHOWN_BYTES + 1], const char *name)
{
    const bool formula = gr_is_formula(name);
    snprintf(to, NAME_SHOWN_BYTES, "%s", formula ? "'" : "");
    text_printable(to + formula, NAME_SHOWN_BYTES, name);
    return to;
}

static void write_row(FILE *out, const struct cl_weights *w, const char *student,
                      const struct cl_final *f)
{
    char name[2][NAME_SHOWN_BYTES + 1];
    struct tsv_row row;
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, harmless(name[0], student));
    tsv_row_add_text(&row, harmless(name[1], f->submission));
    for (size_t p = 0; p < w->parts; p++)
        tsv_row_add(&row, "%.2f", f->points[p]);
    tsv_row_add(&row, "%.2f", f->total);
    tsv_row_add(&row, "%zu", f->open);
    tsv_row_add(&row, "%zu", f->faults);
    tsv_row_write(&row, out);
}

/* Writes a row for each member of the roster: from their own submission, with their team's grades
 * for the milestones handed in together, or from their team's submission. Also writes a row for
 * each graded submission that is not of a member of the roster. */
static void write_rows(FILE *out, const struct cl_weights *w, const struct cl_final_list *list,
                       const struct gb_roster_list *roster)
{
    bool *used = calloc(list->n + 1, sizeof *used);
    for (size_t r = 0; used && r < roster->n; r++)
        for (size_t team = 0, found = 0; team < 2 && !found; team++)
            for (size_t i = 0; i < list->n && !found; i++) {
                const char *name = team ? roster->row[r].team : roster->row[r].name;
                if (strcmp(list->row[i].submission, name) != 0)
                    continue;
                write_row(out, w, roster->row[r].name,
                          cl_final_of(list, roster->row[r].name, &list->row[i]));
                found = used[i] = true;
            }
    for (size_t i = 0; used && i < list->n; i++)
        if (!used[i] && !list->row[i].is_team && list->row[i].grades)
            write_row(out, w, list->row[i].submission,
                      cl_final_of(list, list->row[i].submission, &list->row[i]));
    free(used);
}

static enum st_code write_table(const struct arguments *a, const struct cl_weights *w,
                                const struct cl_final_list *list,
                                const struct gb_roster_list *roster, struct st_error *err)
{
    struct file_out file = {.f = stdout};
    enum st_code code = a->out ? file_out_open(&file, a->out, err) : ST_OK;
    if (code)
        return code;
    write_header(file.f, w);
    write_rows(file.f, w, list, roster);
    return a->out ? file_out_commit(&file, err) : ST_OK;
}

/* Prints why the grades are not final yet. */
static void print_open(const struct cl_final_list *list)
{
    size_t open = 0, faults = 0;
    for (size_t i = 0; i < list->n; i++) {
        open += list->row[i].grades ? list->row[i].open - list->row[i].teams_open : 0;
        faults += list->row[i].faults - list->row[i].teams_faults;
    }
    if (open)
        fprintf(
            stderr,
            "grader final: %zu manual items are not entered yet; they count as 0 (hint: enter them with grader manual)\n",
            open);
    if (faults)
        fprintf(
            stderr,
            "grader final: %zu grades are missing because of a fault of the grader or the machine; they count as 0 (hint: run grader class again)\n",
            faults);
}

int gr_command_final(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"weights", 'w', "FILE", "the course's weights (default: grader/class/weights.tsv)",
         OPTION_TEXT(struct arguments, weights)},
        {"out", 'o', "FILE", "write the table to this file", OPTION_TEXT(struct arguments, out)},
        SD_UNCHECKED_ROW(struct arguments, unchecked),
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Compute final grades from the gradebook's grades and manual items, by the parts of a table of weights. docs/class.md describes the table."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    static struct cl_weights weights;
    struct gradebook *book = NULL;
    struct cl_final_list list = {0};
    struct gb_roster_list roster = {0};
    struct st_error err;
    char path[PATH_MAX] = "";
    const char *root = checkout_root(&err);
    path_format(path, sizeof path, "%s/grader/class/weights.tsv", root ? root : "");
    enum st_code code = root ? ST_OK : err.code;
    if (!code)
        code = cl_weights_read(&weights, a.weights ? a.weights : path, &err);
    if (!code)
        code = gb_open(&book, a.gradebook, GB_READ, &err);
    if (!code)
        code = cl_final_make(&list, book, &weights, a.unchecked, &err);
    if (!code)
        code = gb_roster_read(book, &roster, &err, "ORDER BY line");
    if (!code)
        code = write_table(&a, &weights, &list, &roster, &err);
    if (code)
        st_print(stderr, "grader final", &err);
    else
        print_open(&list);
    if (!code && list.uncounted[0])
        fprintf(
            stderr,
            "grader final: %s: graded, but in no part that gives points (hint: add it to a row of %s)\n",
            list.uncounted, a.weights ? a.weights : "grader/class/weights.tsv");
    cl_final_free(&list);
    gb_roster_free(&roster);
    gb_close(book);
    return code ? EXIT_FAILED : EXIT_DONE;
}
