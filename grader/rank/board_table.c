#include "grader/rank/board.h"

#include "exercise/exercise.h"

#include <math.h>

static void put_number(FILE *out, double value, int width, int digits)
{
    if (isfinite(value))
        fprintf(out, "  %*.*f", width, digits, value);
    else
        fprintf(out, "  %*s", width, "-");
}

/* The number of digits: times of many milliseconds need few. */
static int digits_of(double milliseconds)
{
    return milliseconds < 10 ? 3 : milliseconds < 1000 ? 1 : 0;
}

void rk_table_write(const struct rk_board *board, FILE *out)
{
    fprintf(out, "rank  %-24s  points", "name");
    for (size_t m = 0; m < board->milestones; m++)
        fprintf(out, "  %7s  %8s ms", board->column[m].id, board->column[m].id);
    fputc('\n', out);
    for (size_t i = 0; i < board->rows; i++) {
        const struct rk_row *row = &board->row[i];
        char label[RK_LABEL_CHARS];
        fprintf(out, "%4zu", row->rank);
        fprintf(out, "  %-24s", rk_row_label(row, label));
        put_number(out, row->total, 6, 1);
        for (size_t m = 0; m < board->milestones; m++) {
            double ms = 1e3 * row->cell[m].op_time_s;
            put_number(out, row->cell[m].score, 7, 1);
            put_number(out, ms, 11, digits_of(ms));
        }
        fputc('\n', out);
    }
    for (size_t m = 0; m < board->milestones; m++) {
        char size[EXERCISE_TEXT];
        if (board->column[m].images)
            fprintf(out, "%s: Op Times at %s\n", board->column[m].id,
                    exercise_size(exercise_of(board->column[m].id), board->column[m].images, size));
    }
    if (board->not_graded)
        fprintf(out, "%zu more %s not ranked: nothing handed in, or not graded yet\n",
                board->not_graded, board->not_graded == 1 ? "is" : "are");
}
