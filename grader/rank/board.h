/** @file
 * The anonymous ranking of a class.
 *
 *     gradebook ──board──▶ rows, ranked and named ──table──▶ terminal
 *                                                 ──page───▶ HTML
 *
 * Names are computed from a secret in the gradebook: a team has the same name on every board of the
 * gradebook, and the name does not reveal the team. Each team has a token, which the instructor can
 * give to it; a team that shows its token is listed under its own name.
 */
#pragma once

#include "base/status.h"
#include "grader/gradebook/gradebook.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { RK_MAX_MILESTONES = 24, RK_NAME_CHARS = 64, RK_LABEL_CHARS = 128, RK_TOKEN_CHARS = 17 };

/** One milestone of one team. */
struct rk_cell {
    double score;       /**< automatic points; NAN: none */
    double op_time_s;   /**< at the column's number of images; NAN: not measured there */
    double uncertainty; /**< uncertainty of op_time_s, in seconds */
};

/** One team. */
struct rk_row {
    char *submission; /**< name in the gradebook, not to be shown */
    char *own_name;   /**< the name if the team asked to be listed under it, otherwise NULL */
    char pseudonym[RK_NAME_CHARS];
    size_t rank;        /**< from 1; equal for equal points and times */
    double total;       /**< sum of the points of all columns */
    double total_s;     /**< sum of the Op Times of all columns; infinite if one is missing */
    double uncertainty; /**< uncertainty of total_s, in seconds */
    struct rk_cell cell[RK_MAX_MILESTONES];
};

/** A board. */
struct rk_board {
    size_t milestones;
    struct {
        char id[8];
        size_t images; /**< the largest size at which any team was right; 0: there are no times */
        double max_score;
    } column[RK_MAX_MILESTONES];
    size_t rows;
    size_t not_graded; /**< number of teams that could not be graded or handed in nothing */
    struct rk_row *row;
};

/** Ranks a class: by points, then by Op Time. The gradebook must be open for writing, because the
 * first board stores the secret. @param milestone  only this milestone; NULL: all together. */
enum st_code rk_board_read(struct rk_board *board, struct gradebook *book, const char *milestone,
                           struct st_error *err);

/** Frees a board's contents; harmless on a zeroed board. */
void rk_board_free(struct rk_board *board);

/** The name under which a team is listed. A name chosen by a team may change the writing direction,
 * have several lines, or control a terminal: so it is reduced to printable characters on one line,
 * and cut if it is too long. @return @p to */
const char *rk_row_label(const struct rk_row *row, char to[RK_LABEL_CHARS]);

/** Computes a team's token. */
enum st_code rk_token(struct gradebook *book, const char *submission, char token[RK_TOKEN_CHARS],
                      struct st_error *err);

/** Stores whether the team with this token is listed under its own name from now on. */
enum st_code rk_show_own_name(struct gradebook *book, const char *token, bool show,
                              struct st_error *err);

/** Writes the board for a terminal. */
void rk_table_write(const struct rk_board *board, FILE *out);

/** Writes the board as one self-contained HTML page. */
void rk_page_write(const struct rk_board *board, FILE *out);

/* ---- pseudonyms.c ---- */

enum { RK_SECRET_CHARS = 65 };

/** Reads the gradebook's secret; creates it if there is none. */
enum st_code rk_secret(struct gradebook *book, char secret[RK_SECRET_CHARS], struct st_error *err);

/** Makes a team's pseudonym: two words and a number. @param round  0; after a collision, higher
 * values give other names. */
void rk_pseudonym(const char *secret, const char *submission, unsigned round,
                  char name[RK_NAME_CHARS]);
