/* The board as one HTML page, board.html. The page contains its style and script, and a content
 * security policy forbids it to load anything.
 *
 * Each heading is a button: a click, Enter or Space sorts by its column; a second click reverses
 * the order. board.html#sort=m1_ms or #sort=-m1_ms shows it sorted. */
#include "base/page_template.h"
#include "exercise/exercise.h"
#include "grader/rank/board.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <string.h>

extern const char board_html[], board_css[], board_js[];

/* Writes a heading. Its text is ours, and needs no escapes. @param kind  "text" or "number";
 * @param first  the order after the first click */
static void put_head(FILE *out, const char *column, const char *label, const char *below,
                     const char *kind, const char *first)
{
    fprintf(
        out,
        "<th scope=\"col\"%s data-column=\"%s\" data-kind=\"%s\" data-first=\"%s\"%s><button type=\"button\">%s",
        strcmp(kind, "text") == 0 ? " class=\"name\"" : "", column, kind, first,
        strcmp(column, "rank") == 0 ? " aria-sort=\"ascending\"" : "", label);
    if (*below)
        fprintf(out, "<small>%s</small>", below);
    fputs("</button></th>\n", out);
}

static void put_heads(FILE *out, const void *of)
{
    const struct rk_board *board = of;
    put_head(out, "rank", "Rank", "", "number", "ascending");
    put_head(out, "name", "Name", "", "text", "ascending");
    if (board->milestones > 1)
        put_head(out, "points", "Points", "", "number", "descending");
    for (size_t m = 0; m < board->milestones; m++) {
        char column[16], label[32], below[EXERCISE_TEXT + 8], size[EXERCISE_TEXT];
        snprintf(column, sizeof column, "%s_points", board->column[m].id);
        snprintf(label, sizeof label, "%s", board->column[m].id);
        snprintf(below, sizeof below, "of %g", board->column[m].max_score);
        put_head(out, column, label, below, "number", "descending");
        if (!board->column[m].images)
            continue;
        snprintf(column, sizeof column, "%s_ms", board->column[m].id);
        snprintf(label, sizeof label, "%s Op Time", board->column[m].id);
        snprintf(below, sizeof below, "ms, %s",
                 exercise_size(exercise_of(board->column[m].id), board->column[m].images, size));
        put_head(out, column, label, below, "number", "ascending");
    }
}

static void put_number(FILE *out, double value, int digits)
{
    if (isfinite(value))
        fprintf(out, "<td data-value=\"%.9g\">%.*f</td>", value, digits, value);
    else
        fputs("<td data-value=\"\">&ndash;</td>", out);
}

/* Writes a row. The name is in an element that isolates its writing direction. */
static void put_row(const struct rk_board *board, const struct rk_row *row, FILE *out)
{
    char label[RK_LABEL_CHARS];
    fprintf(out, "<tr><td data-value=\"%zu\">%zu</td><td class=\"name\"><bdi>", row->rank,
            row->rank);
    gr_put_html(out, rk_row_label(row, label));
    fputs("</bdi></td>", out);
    if (board->milestones > 1)
        put_number(out, row->total, 1);
    for (size_t m = 0; m < board->milestones; m++) {
        double ms = 1e3 * row->cell[m].op_time_s;
        put_number(out, row->cell[m].score, 1);
        if (board->column[m].images)
            put_number(out, ms, ms < 10 ? 3 : ms < 1000 ? 1 : 0);
    }
    fputs("</tr>\n", out);
}

static void put_rows(FILE *out, const void *of)
{
    const struct rk_board *board = of;
    for (size_t i = 0; i < board->rows; i++)
        put_row(board, &board->row[i], out);
}

static void put_others(FILE *out, const void *of)
{
    const struct rk_board *board = of;
    if (board->not_graded)
        fprintf(out, "<p>%zu more: nothing handed in, or not graded yet.</p>\n", board->not_graded);
}

void rk_page_write(const struct rk_board *board, FILE *out)
{
    page_write(out, board_html,
               (struct page_part[]){{"style", .text = board_css},
                                    {"heads", .put = put_heads},
                                    {"rows", .put = put_rows},
                                    {"others", .put = put_others},
                                    {"script", .text = board_js},
                                    {0}},
               board);
}
