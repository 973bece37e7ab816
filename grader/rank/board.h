/** @file
 * The board: who is first, without saying who that is.
 *
 *     gradebook ──board──▶ rows, ranked and named ──table──▶ terminal
 *                                                 ──page───▶ HTML
 *
 * Names come from a secret in the gradebook: the same team has the same name on every board of it,
 * and the name does not reveal the team. Each team has a token, which the instructor can give it; a
 * team that shows its token is listed under its own name.
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
    double score;       /**< automatic points, NAN if there are none */
    double op_time_s;   /**< at the images of the column, NAN if not measured there */
    double uncertainty; /**< of that, in seconds */
};

/** One team. */
struct rk_row {
    char *submission; /**< its name in the gradebook, not to be shown */
    char *own_name;   /**< the same if it asked to be listed under it, else NULL */
    char pseudonym[RK_NAME_CHARS];
    size_t rank;        /**< from 1; the same for the same points and time */
    double total;       /**< points of all columns */
    double total_s;     /**< Op Times of all columns, infinite if one is missing */
    double uncertainty; /**< of that, in seconds */
    struct rk_cell cell[RK_MAX_MILESTONES];
};

/** A board. */
struct rk_board {
    size_t milestones;
    struct {
        char id[8];
        size_t images; /**< the largest size at which any was right; 0: no times */
        double max_score;
    } column[RK_MAX_MILESTONES];
    size_t rows;
    size_t not_graded; /**< teams that the grader could not grade or that handed in nothing */
    struct rk_row *row;
};

/** Ranks a class: by points, then by Op Time. The gradebook must be open for writing: it gets its
 * secret with the first board. @param milestone  only this one, or NULL for all together. */
enum st_code rk_board_read(struct rk_board *board, struct gradebook *book, const char *milestone,
                           struct st_error *err);

/** Releases a board; harmless on a zeroed one. */
void rk_board_free(struct rk_board *board);

/** The name that a team is listed under. A name that a team chose may have a direction of writing,
 * several lines, or steer a terminal: it comes out as printable characters on one line, cut where
 * it is too long. @return @p to */
const char *rk_row_label(const struct rk_row *row, char to[RK_LABEL_CHARS]);

/** A team's token. */
enum st_code rk_token(struct gradebook *book, const char *submission, char token[RK_TOKEN_CHARS],
                      struct st_error *err);

/** Lists the team with this token under its own name from now on, or no longer. */
enum st_code rk_show_own_name(struct gradebook *book, const char *token, bool show,
                              struct st_error *err);

/** The board for a terminal. */
void rk_table_write(const struct rk_board *board, FILE *out);

/** The board as one HTML page that needs nothing else. */
void rk_page_write(const struct rk_board *board, FILE *out);

/* ---- pseudonyms.c ---- */

enum { RK_SECRET_CHARS = 65 };

/** The gradebook's secret, made if there is none. */
enum st_code rk_secret(struct gradebook *book, char secret[RK_SECRET_CHARS], struct st_error *err);

/** A team's name of two words and a number. @param round  0; more gives other names, where two
 * meet. */
void rk_pseudonym(const char *secret, const char *submission, unsigned round,
                  char name[RK_NAME_CHARS]);
