/* Writes tables that a platform's gradebook imports, with a row per student: members of a team get
 * the team's grade, less their own deduction for lateness. The formats are those that the importers
 * expect:
 *
 * - Canvas, lib/gradebook_importer.rb: "Student", "ID", "SIS User ID", "SIS Login ID", "Section" in this
 *   order, then a column for each assignment, whose heading ends in its number in parentheses
 *   (otherwise Canvas makes a new assignment); the row "Points Possible". A blank cell means no
 *   score.
 * - Moodle, grade/import/csv: any columns, which the import page maps; and its grading worksheet,
 *   mod/assign/feedback/offline/importgradeslib.php: "Identifier", "Grade", "Last modified (grade)"
 *   and "Feedback comments", of one assignment. */
#include "base/numbers.h"
#include "grader/export/format_parts.h"
#include "grader/export/gradebook_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---------------------------------------------------------------------------------- */

/* Points, rounded as both platforms show them; blank if unknown. */
static void put_points(FILE *out, double points)
{
    if (isfinite(points))
        fprintf(out, "%.2f", points);
}

static const char *display_name(const struct sd_student *s)
{
    return s->display_name[0] ? s->display_name : s->name;
}

/* The name of an assignment on the platform: from --column m1='Lab 1 (4711)', or the
 * milestone's. */
static const char *column_of(const struct gx_columns *columns, const char *id)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strncmp(columns->text[i], id, strlen(id)) == 0 && columns->text[i][strlen(id)] == '=')
            return columns->text[i] + strlen(id) + 1;
    return id;
}

bool gx_is_wanted(const void *of, const char *milestone)
{
    const struct gx_columns *columns = of;
    return !columns->milestone || strcmp(columns->milestone, milestone) == 0;
}

/* The points that a student's grading could reach. */
static double automatic_max(const struct gx_columns *columns, const struct sd_milestone *m,
                            const struct sd_points *p)
{
    return m->automatic - (columns->unchecked == SD_OMIT ? p->unchecked : 0);
}

/* The points of a column whose maximum is the rubric's: the share of the automatic points that a
 * grading could reach counts. */
static double total_of(const struct gx_columns *columns, const struct sd_milestone *m,
                       const struct sd_points *p)
{
    const double most = automatic_max(columns, m, p);
    if (most == m->automatic || most <= 0)
        return p->total;
    return (p->automatic * m->automatic / most + p->manual) * (p->late ? 1 - p->late->lost : 1);
}

/* Writes, on one line, the points, the deduction for lateness, and the manual comments. */
static void put_feedback(FILE *out, const struct sd_class *class, const struct gx_columns *columns,
                         const struct sd_student *s, size_t m)
{
    const struct sd_milestone *milestone = &class->milestone[m];
    const struct sd_points *p = &s->milestone[m];
    char *text = NULL, points[NUMBER_CHARS];
    size_t bytes;
    FILE *line = open_memstream(&text, &bytes);
    if (!line || !p->grade)
        return;
    if (isfinite(p->automatic))
        fprintf(line, "automatic %s of %g", number_exact(points, p->automatic),
                automatic_max(columns, milestone, p));
    else
        fprintf(line, "not graded, through no fault of the submission");
    if (strcmp(p->grade->status, "missing") == 0 || strcmp(p->grade->status, "rejected") == 0)
        fprintf(line, " (%s)", p->attempt ? p->attempt->message : p->grade->status);
    for (size_t i = 0; i < milestone->items; i++) {
        const struct gb_manual_item *item =
            sd_item_of(class, p->submission, milestone->id, milestone->item[i].id);
        if (item && isfinite(item->points))
            fprintf(line, "; %s %g of %g%s%s", item->item, item->points, milestone->item[i].points,
                    item->comment[0] ? ": " : "", item->comment);
    }
    const struct gb_manual_item *comment =
        sd_item_of(class, p->submission, milestone->id, "comment");
    if (comment && comment->comment[0])
        fprintf(line, "; %s", comment->comment);
    if (p->late && p->late->reason[0])
        fprintf(line, "; %s", p->late->reason);
    if (fclose(line) == 0)
        gx_put_cell(out, text);
    free(text);
}

/* ---- Canvas and Moodle ----------------------------------------------------------------------- */

/* Writes the rest of a row: points and feedback for each milestone; without a student, the headings
 * of these columns. */
static void put_milestones(FILE *out, const struct sd_class *class,
                           const struct gx_columns *columns, const struct sd_student *student,
                           bool with_feedback)
{
    for (size_t m = 0; m < class->milestones; m++) {
        char heading[256];
        const char *name = column_of(columns, class->milestone[m].id);
        if (!gx_is_wanted(columns, class->milestone[m].id))
            continue;
        snprintf(heading, sizeof heading, "%.200s (Feedback)", name);
        fputc(',', out);
        if (student)
            put_points(out, total_of(columns, &class->milestone[m], &student->milestone[m]));
        else
            gx_put_cell(out, name);
        if (with_feedback)
            fputc(',', out);
        if (with_feedback && student)
            put_feedback(out, class, columns, student, m);
        else if (with_feedback)
            gx_put_cell(out, heading);
    }
    fputs("\r\n", out);
}

enum st_code gx_canvas_write(FILE *out, const struct sd_class *class,
                             const struct gx_columns *columns, struct st_error *err)
{
    (void)err;
    fputs("Student,ID,SIS User ID,SIS Login ID,Section", out);
    put_milestones(out, class, columns, NULL, false);
    fputs("    Points Possible,,,,", out);
    for (size_t m = 0; m < class->milestones; m++)
        if (gx_is_wanted(columns, class->milestone[m].id))
            fprintf(out, ",%.2f", class->milestone[m].automatic + class->milestone[m].manual);
    fputs("\r\n", out);
    for (const struct sd_student *s = class->student; s < class->student + class->students; s++) {
        gx_put_cells(
            out, 5,
            (const char *[]){display_name(s), s->platform_id, s->sis_id, s->name, s->section});
        put_milestones(out, class, columns, s, false);
    }
    return ST_OK;
}

enum st_code gx_moodle_write(FILE *out, const struct sd_class *class,
                             const struct gx_columns *columns, struct st_error *err)
{
    (void)err;
    fputs("Username,Full name,ID number,Email address", out);
    put_milestones(out, class, columns, NULL, true);
    for (const struct sd_student *s = class->student; s < class->student + class->students; s++) {
        gx_put_cells(out, 4, (const char *[]){s->name, display_name(s), s->sis_id, s->email});
        put_milestones(out, class, columns, s, true);
    }
    return ST_OK;
}

/* ---- Moodle's worksheet ---------------------------------------------------------------------- */

/* Skips students without a number on the platform, because they are not in its worksheet either. */
enum st_code gx_moodle_worksheet_write(FILE *out, const struct sd_class *class,
                                       const struct gx_columns *columns, struct st_error *err)
{
    size_t m = 0, unknown = 0;
    while (m < class->milestones &&
           !(columns->milestone && gx_is_wanted(columns, class->milestone[m].id)))
        m++;
    if (m == class->milestones) {
        st_fail(err, ST_USAGE, "a grading worksheet needs one graded milestone");
        st_detail(err, ST_GOT, "%s", columns->milestone ? columns->milestone : "none");
        return st_detail(err, ST_HINT, "name it with --milestone"), ST_USAGE;
    }
    fputs(
        "\xef\xbb\xbfIdentifier,Full name,Email address,Grade,Last modified (grade),Feedback comments\r\n",
        out);
    for (const struct sd_student *s = class->student; s < class->student + class->students; s++) {
        char identifier[96];
        unknown += !s->platform_id[0];
        if (!s->platform_id[0])
            continue;
        snprintf(identifier, sizeof identifier, "Participant %.64s", s->platform_id);
        gx_put_cells(out, 3, (const char *[]){identifier, display_name(s), s->email});
        fputc(',', out);
        put_points(out, total_of(columns, &class->milestone[m], &s->milestone[m]));
        fputs(",-,", out);
        put_feedback(out, class, columns, s, m);
        fputs("\r\n", out);
    }
    if (unknown)
        fprintf(
            stderr,
            "grader export: %zu students without a Moodle number were skipped (hint: pass Moodle's grading worksheet as --roster)\n",
            unknown);
    return ST_OK;
}
