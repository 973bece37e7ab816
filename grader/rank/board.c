#include "grader/rank/board.h"

#include "grader/export/from_gradebook.h"
#include "base/printable.h"
#include "exercise/exercise.h"
#include "grader/record/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns: the milestones with gradings ---- */

static size_t column_of(struct rk_board *board, const char *milestone)
{
    for (size_t i = 0; i < board->milestones; i++)
        if (strcmp(board->column[i].id, milestone) == 0)
            return i;
    return RK_MAX_MILESTONES;
}

static void find_columns(struct rk_board *board, const struct gx_class *class)
{
    enum { NUMBERS = 99 }; /* largest number of a milestone per exercise */
    for (size_t m = 0; exercise_at(m / NUMBERS) && board->milestones < RK_MAX_MILESTONES; m++) {
        char id[sizeof board->column->id];
        snprintf(id, sizeof id, "%c%zu", exercise_at(m / NUMBERS)->letter, 1 + m % NUMBERS);
        size_t at = board->milestones, found = 0;
        board->column[at].max_score = 0;
        board->column[at].images = 0;
        for (size_t i = 0; i < class->records; i++) {
            const struct gx_record *r = &class->record[i];
            if (strcmp(r->milestone, id) != 0)
                continue;
            found++;
            board->column[at].max_score = fmax(board->column[at].max_score, r->max_score);
            if (isfinite(r->op_time_s) && r->images > board->column[at].images)
                board->column[at].images = r->images;
        }
        if (found) {
            strcpy(board->column[at].id, id);
            board->milestones++;
        }
    }
}

/* ---- rows ---- */

/* Reads a record. Times at different numbers of images cannot be compared: only times at the
 * column's number count. */
static void take_record(struct rk_board *board, struct rk_row *row, const struct gx_record *record)
{
    size_t at = column_of(board, record->milestone);
    if (at == RK_MAX_MILESTONES)
        return;
    row->cell[at].score = record->score;
    if (record->images != board->column[at].images)
        return;
    row->cell[at].op_time_s = record->op_time_s;
    row->cell[at].uncertainty = record->uncertainty_s;
}

static bool is_graded(const struct gx_record *record)
{
    return !record->fault && strcmp(record->status, "missing") != 0;
}

/* Makes the rows; the records are sorted by submission. @return false: out of memory. */
static bool take_rows(struct rk_board *board, const struct gx_class *class)
{
    board->row = calloc(class->records + 1, sizeof *board->row);
    if (!board->row)
        return false;
    for (size_t i = 0, end; i < class->records; i = end) {
        bool graded = false;
        struct rk_row *row = &board->row[board->rows];
        *row = (struct rk_row){0};
        for (size_t m = 0; m < RK_MAX_MILESTONES; m++)
            row->cell[m] = (struct rk_cell){NAN, NAN, 0};
        for (end = i; end < class->records &&
                      strcmp(class->record[end].submission, class->record[i].submission) == 0;
             end++) {
            take_record(board, row, &class->record[end]);
            graded |= is_graded(&class->record[end]);
        }
        if (!graded) {
            board->not_graded++;
            continue;
        }
        row->submission = strdup(class->record[i].submission);
        if (!row->submission)
            return false;
        board->rows++;
        for (size_t m = 0; m < board->milestones; m++) {
            const struct rk_cell *cell = &row->cell[m];
            row->total += isfinite(cell->score) ? cell->score : 0;
            if (board->column[m].images)
                row->total_s += isfinite(cell->op_time_s) ? cell->op_time_s : INFINITY;
            row->uncertainty = hypot(row->uncertainty, cell->uncertainty);
        }
    }
    return true;
}

/* ---- names ---- */

static bool is_taken(const struct rk_board *board, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(board->row[i].pseudonym, name) == 0)
            return true;
    return false;
}

static enum st_code name_rows(struct rk_board *board, struct gradebook *book, struct st_error *err)
{
    char secret[RK_SECRET_CHARS], *setting, *value;
    enum st_code code = rk_secret(book, secret, err);
    for (size_t i = 0; !code && i < board->rows; i++) {
        struct rk_row *row = &board->row[i];
        unsigned round = 0;
        do
            rk_pseudonym(secret, row->submission, round++, row->pseudonym);
        while (is_taken(board, i, row->pseudonym));
        if (asprintf(&setting, "rank_own_name:%s", row->submission) < 0)
            return st_fail(err, ST_NO_MEMORY, "out of memory for a name");
        code = gb_setting_get(book, setting, &value, err);
        free(setting);
        if (!code && value && strcmp(value, "shown") == 0)
            row->own_name = row->submission;
        free(value);
    }
    return code;
}

const char *rk_row_label(const struct rk_row *row, char to[RK_LABEL_CHARS])
{
    text_printable(to, RK_LABEL_CHARS, row->own_name ? row->own_name : row->pseudonym);
    for (char *c = to; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return to;
}

/* ---- ranks ---- */

static int by_points_and_time(const void *a, const void *b)
{
    const struct rk_row *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    const int time = (x->total_s > y->total_s) - (x->total_s < y->total_s);
    return time ? time : strcmp(x->pseudonym, y->pseudonym);
}

/* Orders by rank. Teams with equal ranks are sorted by pseudonym, which reveals nothing about
 * them. */
static int by_rank(const void *a, const void *b)
{
    const struct rk_row *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank ? 1 : -1) : strcmp(x->pseudonym, y->pseudonym);
}

static bool is_equal(const struct rk_row *a, const struct rk_row *b)
{
    return a->total == b->total && gr_same_time(a->total_s, a->uncertainty / a->total_s, b->total_s,
                                                b->uncertainty / b->total_s);
}

/* Gives ranks. Times that are equal within their precision share the rank of the shortest of
 * them. */
static void rank_rows(struct rk_board *board)
{
    qsort(board->row, board->rows, sizeof *board->row, by_points_and_time);
    for (size_t i = 0, first = 0; i < board->rows; i++) {
        if (!is_equal(&board->row[first], &board->row[i]))
            first = i;
        board->row[i].rank = first + 1;
    }
    qsort(board->row, board->rows, sizeof *board->row, by_rank);
}

enum st_code rk_board_read(struct rk_board *board, struct gradebook *book, const char *milestone,
                           struct st_error *err)
{
    struct gx_class class;
    *board = (struct rk_board){0};
    enum st_code code = gx_class_read(&class, book, NULL, milestone, err);
    if (code)
        return code;
    find_columns(board, &class);
    if (!take_rows(board, &class))
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the grades of a class");
    gx_class_free(&class);
    if (!code)
        code = name_rows(board, book, err);
    if (code)
        rk_board_free(board);
    else
        rank_rows(board);
    return code;
}

void rk_board_free(struct rk_board *board)
{
    for (size_t i = 0; i < board->rows; i++)
        free(board->row[i].submission);
    free(board->row);
    *board = (struct rk_board){0};
}
