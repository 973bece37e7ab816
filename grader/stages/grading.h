/** @file
 * Grading one milestone: the stages and what they share.
 *
 *     build -> load -> unit shapes -> technique -> inference at each data-set size -> report
 *
 * Each stage turns what it finds into checks of the result; a stage that cannot run because an
 * earlier one failed says so as "skip".
 */
#ifndef CONVLAB_GRADER_GRADING_H
#define CONVLAB_GRADER_GRADING_H

#include "base/status.h"
#include "grader/course/cases.h"
#include "grader/course/milestone.h"
#include "grader/course/options.h"
#include "grader/place/turn.h"
#include "grader/record/result.h"
#include "grader/course/rubric.h"
#include "grader/sandbox/source_build.h"
#include "grader/session/session.h"
#include "runner/arena.h"

#include <stdio.h>

struct gr_code;

/** What the stages share. */
struct grading {
    const struct gr_options *options;
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    struct gr_host host;      /**< where it runs */
    struct gr_options chosen; /**< options with what the device decides filled in */
    struct gr_case_shape held_out[GR_MAX_HELD_OUT]; /**< of --shapes */
    size_t held_outs;
    char library[PATH_MAX];       /**< what is graded */
    struct gr_source_build built; /**< --source: its build */
    struct arena arena;
    struct gr_session session; /**< with the graded library */
    char idle[192];            /**< says that its kernels do not do the work, or "" */
    struct gr_code *code;      /**< the library's, read for the first timed run; or NULL */
    char elsewhere[320];       /**< says what a timed run lacks of the technique, or "" */
    struct gr_inference_stage *inference;
    struct gr_turn turn;
    struct gr_result *result;
    FILE *out; /**< where a person reads along: stdout, or stderr with --json - */
};

/** Grades: fills in g->result. @param g zeroed but for options, result, out.
 * @return ST_OK if graded, whatever the verdicts; anything else: could not grade. */
enum st_code gr_grade(struct grading *g, struct st_error *err);

/** Releases what a grading holds (not the result). */
void gr_grading_free(struct grading *g);

/** Adds a check of that name to the result, with the rubric's points and text (0 points if the
 * rubric has no such item). */
struct gr_check *gr_check_add(struct grading *g, const char *name);

/** @return the check of that name, or NULL if the rubric has no such item. */
struct gr_check *gr_check_find(struct grading *g, const char *name);

/** Sets a check's verdict, message (printf style) and points. */
void gr_check_set(struct gr_check *check, enum gr_status status, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/** Sets a check's hint, printf style. */
void gr_check_hint(struct gr_check *check, const char *hint, ...)
    __attribute__((format(printf, 2, 3)));

/** Seconds that a convolution may take: ten, and as long as a tenth of a GMAC/s needs; on the
 * virtual GPU, which checks every access, thirty and a hundredth of a GMAC/s. */
double gr_time_limit_s(const struct grading *g, const struct conv_shape *shape);

/** Finds out where the milestone runs (options, a GPU that is there, or the virtual one) and fills
 * in g->host, g->chosen and what the result says of it. */
enum st_code gr_host_choose(struct grading *g, struct st_error *err);

/** Stage: all unit shapes. Fills in the check "unit_shapes". */
enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err);

/** Stage: the milestone's technique, after inference, whose runs must have it, too. Fills in the
 * check "technique", if the rubric has it. */
enum st_code gr_technique_check(struct grading *g, struct st_error *err);

/** Part of inference, on the virtual GPU: looks at what the last run, which was right and timed,
 * did. Fills in g->idle if kernels did not do the work, and g->elsewhere if they did it without the
 * technique. */
enum st_code gr_timed_work_check(struct grading *g, const struct conv_shape *shape,
                                 struct st_error *err);

/** Part of the unit shapes, of a milestone without that check: fails @p check, which has passed,
 * and fills in g->idle if its kernels did not do the work. */
enum st_code gr_work_check(struct grading *g, struct gr_check *check, struct st_error *err);

/** The inference stage; opaque. */
struct gr_inference_stage;

/** Loads what inference needs (data set, model), so that a fault of the environment shows before
 * any work is done. Close with gr_inference_close() also after an error. */
enum st_code gr_inference_open(struct gr_inference_stage **stage, struct grading *g,
                               struct st_error *err);

/** Stage: inference at every size asked for. Fills in the checks "inference_N". */
enum st_code gr_inference_check(struct gr_inference_stage *stage, struct st_error *err);

/** Stage: the check "speed", from the times that inference took. */
void gr_speed_check(struct grading *g);

/** Releases the stage; NULL is allowed. */
void gr_inference_close(struct gr_inference_stage *stage);

/** Prints one line of the course's output and keeps it for the report. */
void gr_course_line(struct grading *g, const char *line, ...) __attribute__((format(printf, 2, 3)));

/** Prints one check for a person: a line, and what teaches below it. */
void gr_check_print(FILE *out, const struct gr_check *check);

/** Prints what the student's code printed, if anything. */
void gr_output_print(FILE *out, const struct gr_output *output);

#endif
