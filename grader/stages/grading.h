/** @file
 * Grades one milestone: the stages and their shared state.
 *
 *     build -> load -> unit shapes -> inference at each data-set size -> technique -> speed -> outputs
 *
 * Each stage turns its findings into checks of the result; a stage that cannot run because an
 * earlier one failed becomes a "skip".
 */
#pragma once

#include "base/status.h"
#include "grader/course/cases.h"
#include "grader/course/milestone.h"
#include "grader/course/options.h"
#include "grader/place/turn.h"
#include "grader/record/result.h"
#include "grader/course/rubric.h"
#include "grader/sandbox/source_build.h"
#include "grader/session/session.h"
#include "grader/stages/checks.h"
#include "runner/arena.h"

#include <stdio.h>

struct gr_proof;

/** State that the stages share. */
struct grading {
    const struct gr_options *options;
    struct gr_options chosen; /**< the options with the rubric's sizes filled in */
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    const struct gr_item *technique;                /**< the rubric's item, or NULL */
    struct gr_host host;                            /**< the device and programs */
    struct gr_case_shape held_out[GR_MAX_HELD_OUT]; /**< from --shapes */
    size_t held_outs;
    char library[PATH_MAX];       /**< the graded library */
    struct gr_source_build built; /**< --source: its build */
    char handed_in[PATH_MAX]; /**< --source FOLDER|ARCHIVE: a copy of the file found in it, or "" */
    char nothing_handed_in[512]; /**< the reason if nothing was handed in, or "" */
    char *source;                /**< text of the file that is compiled, or NULL */
    size_t source_bytes;
    struct arena arena;
    struct arena *kept; /**< where the arena waits for the next grading; NULL: it is closed */
    struct gr_session session; /**< the runner with the graded library */
    struct gr_proof *proof;    /**< proof of the kernels' work, after right unit shapes; or NULL */
    struct gr_inference_stage *inference;
    double image_s; /**< latest seconds per image of the convolutions; 0: unknown */
    struct gr_turn turn;
    struct gr_result *result;
    FILE *out; /**< progress for people: stdout, or stderr with --json - */
};

/** Grades: fills in g->result. @param g  zeroed except options, result, out.
 * @return ST_OK if graded, whatever the verdicts; any other status: could not grade. */
enum st_code gr_grade(struct grading *g, struct st_error *err);

/** Begins a grading: milestone, rubric and held-out shapes, then the device and the sandbox. */
enum st_code gr_grading_prepare(struct grading *g, struct st_error *err);

/** Releases the members of a grading (not the result). */
void gr_grading_free(struct grading *g);

/** Fills in the result's source and subject: the file, and whether it is a submission. */
void gr_source_describe(struct grading *g);

/** --source FOLDER or ARCHIVE: finds the milestone's file in it, as `grader class` does. */
enum st_code gr_handin_open(struct grading *g, struct st_error *err);

/** Removes the copy that gr_handin_open() made. */
void gr_handin_close(struct grading *g);

/** Reads the graded file for its hash, and keeps its text if it is a source. */
void gr_source_take(struct grading *g, const char *path);

/** Chooses where the milestone runs (options, this machine's GPU, or the virtual one), and fills in
 * g->host and the result's device. */
enum st_code gr_host_choose(struct grading *g, struct st_error *err);

/** Reads a virtual GPU's compute capability. @param name  a profile, or the path of one
 * @param capability  set to 10 times it: 75; 0 after an error */
enum st_code gr_profile_capability(const char *build, const char *name, unsigned *capability,
                                   struct st_error *err);

/** Stage: compiles the submission unless it is a library. Fills in g->library; fails the check
 * "builds" if it does not compile. */
enum st_code gr_build_check(struct grading *g, struct st_error *err);

/** Stage: loads g->library into the session. Fills in the check "builds". */
enum st_code gr_load_check(struct grading *g, struct st_error *err);

/** Takes the turn for times on that device, if the grading runs there. On the CPU the session may end
 * here: the inference stage starts it again for its timed runs. */
enum st_code gr_timing_begin(struct grading *g, enum runner_device device, struct st_error *err);

/** @return whether only the smallest size is timed on the CPU, without a turn. */
bool gr_timing_is_brief(const struct grading *g);

/** Ends the turn. */
void gr_timing_end(struct grading *g);

/** Stage: all unit shapes. Fills in the check "unit_shapes". */
enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err);

/** Stage: checks the milestone's technique. It comes after inference, whose runs must use it too.
 * Fills in the check "technique", if the rubric has it. */
enum st_code gr_technique_check(struct grading *g, struct st_error *err);

/** Part of inference: no points without a proof of the work, whatever the unit shapes were. On the
 * virtual GPU, it compares the code executed by the last run, which was right and timed, with the
 * proved code. Unproved code is named in @p check and in the check "technique" (gr_check.lacks of
 * both). */
enum st_code gr_timed_work_check(struct grading *g, const struct conv_shape *shape,
                                 struct gr_check *check, struct st_error *err);

/** Part of the unit shapes: after they have passed, completes the proof of the work, and fails @p
 * check if the kernels of a GPU milestone did not do it. @param right if others were wrong, a right
 * shape with which to prove the work; or NULL */
enum st_code gr_work_check(struct grading *g, struct gr_check *check,
                           const struct conv_shape *right, struct st_error *err);

/** Releases a proof; NULL is allowed. */
void gr_proof_free(struct gr_proof *proof);

/** Stage of m0, instead of all others: runs both halves, oneDNN on the CPU and cuDNN on a GPU, and
 * fills in their checks, Op Times and the course's lines. */
enum st_code gr_library_baseline(struct grading *g, struct st_error *err);

/** The inference stage; opaque. */
struct gr_inference_stage;

/** Loads the data set and the model for inference, so that a fault of the environment appears
 * before any work is done. Call gr_inference_close() even after an error. */
enum st_code gr_inference_open(struct gr_inference_stage **stage, struct grading *g,
                               struct st_error *err);

/** Stage: inference at every requested size. Fills in the checks "inference_N". */
enum st_code gr_inference_check(struct gr_inference_stage *stage, struct st_error *err);

/** Stage: the check "speed", from the times of inference. */
void gr_speed_check(struct grading *g);

/** @return ST_OK if the GPU in the rubric's item "speed" can exist: a virtual one needs a
 * profile. */
enum st_code gr_speed_known(const struct grading *g, struct st_error *err);

/** Releases the stage; NULL is allowed. */
void gr_inference_close(struct gr_inference_stage *stage);

/** Prints one line of the course's output and keeps it for the report. */
void gr_course_line(struct grading *g, const char *line, ...) __attribute__((format(printf, 2, 3)));

/** Prints the output of the student's code, if any. */
void gr_output_print(FILE *out, const struct gr_output *output, const char *source);

/** Prints the sum of the points. */
void gr_score_print(FILE *out, const struct gr_result *result);

/** Writes the files of a grading: the result as JSON (--json), the profile (--profile) and the
 * report's page, the page even if the others fail. */
enum st_code gr_outputs_write(struct grading *g, struct st_error *err);
