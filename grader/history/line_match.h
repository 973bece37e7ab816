/** @file
 * Matches the lines of two texts. Internal to grader/history.
 *
 * Both texts are cut into the same segments: a common line, a changed line, or several lines that
 * were added, removed or rewritten.
 *
 *     before        after         segments
 *     1 a           1 a           1 = 1
 *     2 b           2 B           2 ~ 2
 *     3 c           3 c           3 = 3
 *     4 d           4 x           4-5 ~ 4
 *     5 e           5 f           6 = 5
 *     6 f
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Lines, from 1, of both texts; first > last: none. */
struct hi_place {
    int before, before_last, after, after_last;
    bool changed;
};

/** All segments of two texts, in order. */
struct line_match {
    size_t n;
    struct hi_place *place;
    size_t lines[2]; /**< of each text */
    int *of[2];      /**< the segment of each line */
    size_t added, removed;
};

/** Matches the lines of two texts, ignoring blanks at the ends of lines. @return false: out of
 * memory. Free the match with line_match_free() in any case. */
bool line_match_make(struct line_match *match, const char *before, const char *after);

/** @return the segment of a line, from 1; -1 if the line does not exist. @param side  0: before */
int line_match_place(const struct line_match *match, int side, int line);

/** Frees a match. */
void line_match_free(struct line_match *match);
