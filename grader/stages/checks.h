/** @file
 * The checks of a grading: one per automatic item of the rubric. The stages fill in the checks.
 */
#pragma once

#include "base/status.h"
#include "conv.h"
#include "grader/record/result.h"
#include "grader/session/session.h"

#include <stdio.h>

struct grading;

/** Adds every check and manual item of the rubric to the result, in the rubric's order, so that
 * even a grading that ends early shows all of them.
 * @return ST_BAD_FORMAT if the rubric requests an unknown check. */
enum st_code gr_checks_plan(struct grading *g, struct st_error *err);

/** @return the check with that name, or NULL if the rubric has no such item. */
struct gr_check *gr_check_find(struct grading *g, const char *name);

/** @return the check with that name; if the rubric has no such item, adds it with 0 points. */
struct gr_check *gr_check_add(struct grading *g, const char *name);

/** Sets a check's verdict, message (printf style) and points. */
void gr_check_set(struct gr_check *check, enum gr_status status, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/** Appends to a check's message, printf style. */
void gr_check_append(struct gr_check *check, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/** Sets a check's hint, printf style. */
void gr_check_hint(struct gr_check *check, const char *hint, ...)
    __attribute__((format(printf, 2, 3)));

/** Names the error pattern of a check. */
void gr_check_pattern(struct gr_check *check, const char *pattern);

/** Skips all requested checks that were not reached, with the reason @p why. */
void gr_checks_skip_rest(struct grading *g, const char *why);

/** Sums the points of all checks. */
void gr_checks_score(struct gr_result *result);

/** Prints a check to g->out for people: one line, and the explanation below it. First replaces
 * words by those of the exercise. */
void gr_check_print(struct grading *g, struct gr_check *check);

/** Seconds that a convolution may take: 10 s plus its time at 0.1 GMAC/s; 3 s instead of 10 s for unit
 * shapes on the CPU in a short grading. On the virtual GPU, which checks every access: 30 s plus
 * 5 ms per image, its time at 0.02 GMAC/s, and the time of its first GMAC at 0.007 GMAC/s
 * (docs/sandbox.md has these numbers too). The limits of all sizes add up to less than a class's
 * limit for a grading, so that an endless run counts against the submission. */
double gr_time_limit_s(const struct grading *g, const struct conv_shape *shape);

/** @return whether this grading is short (--quick without --images): it ends early if a loop does not
 * end or kernels compute products many times, because waiting would show no more. */
bool gr_is_short(const struct grading *g);

/** Appends the number of multiply-adds for each product to a message. @param before  text between
 * them */
void gr_repeats_append(const struct grading *g, const char *before, char *to, size_t room);

/** Runs a convolution of the graded session within its time limit. The limit is shorter
 * if gr_is_short() is true and the kernels are known to repeat products. */
void gr_run_limited(struct grading *g, const struct conv_shape *shape, struct gr_run *run);
