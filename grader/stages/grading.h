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
#include "grader/technique/executed.h"
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
    struct gr_source_build built; /**< --source: the file's build */
    char handed_in[PATH_MAX]; /**< --source FOLDER|ARCHIVE: a copy of the submitted file, or "" */
    char nothing_handed_in[512]; /**< the reason if nothing was handed in, or "" */
    char *source;                /**< text of the file that is compiled, or NULL */
    size_t source_bytes;
    struct arena arena;
    struct arena *kept; /**< keeps the arena for the next grading; NULL: the arena is closed */
    struct gr_session session; /**< the runner with the graded library */
    struct gr_proof *proof;    /**< proof of the kernels' work, made after right unit shapes; or
                                    NULL */
    bool is_unit_verdict_open; /**< the unit shapes' verdict waits for the proof, see
                                    gr_unit_shapes_conclude() */
    struct gr_inference_stage *inference;
    /** A right unit shape whose kernels compute outputs many times, and how often they compute each
     * product; 0: none is known. */
    struct conv_shape repeating;
    double repeats;
    double repeated_macs; /**< the multiply-adds of all such shapes */
    double image_s;       /**< seconds per image of the last convolution; 0: unknown */
    struct gr_turn turn;
    struct gr_result *result;
    FILE *out; /**< progress for people: stdout, or stderr with --json - */
};

/** Grades: fills in g->result. @param g  zeroed except for options, result and out.
 * @return ST_OK if graded, whatever the verdicts; any other status: could not grade. */
enum st_code gr_grade(struct grading *g, struct st_error *err);

/** Begins a grading: milestone, rubric and held-out shapes, then the device and the sandbox. */
enum st_code gr_grading_prepare(struct grading *g, struct st_error *err);

/** Releases the members of a grading (not the result). */
void gr_grading_free(struct grading *g);

/** Fills in the result's source and subject: the file's name, and whether it is a submission. */
void gr_source_describe(struct grading *g);

/** --source FOLDER or ARCHIVE: finds the milestone's file in it, as `grader class` does. */
enum st_code gr_handin_open(struct grading *g, struct st_error *err);

/** Removes the copy that gr_handin_open() made. */
void gr_handin_close(struct grading *g);

/** Reads the graded file to hash it; keeps its text if it is a source. */
void gr_source_take(struct grading *g, const char *path);

/** Chooses where the milestone runs (by the options; on this machine's GPU, or on the virtual GPU),
 * and fills in g->host and the result's device. */
enum st_code gr_host_choose(struct grading *g, struct st_error *err);

/** Reads a virtual GPU's compute capability. @param name  a profile, or its path
 * @param capability  set to 10 times the compute capability, such as 75; 0 after an error */
enum st_code gr_profile_capability(const char *build, const char *name, unsigned *capability,
                                   struct st_error *err);

/** Stage: compiles the submission, unless it is a library. Fills in g->library; fails the check
 * "builds" if it does not compile. */
enum st_code gr_build_check(struct grading *g, struct st_error *err);

/** @return what the compiler printed about the graded file. If make has compiled a C file, this function
 * compiles it again. */
const char *gr_build_said(struct grading *g);

/** Stage: loads g->library into the session. Fills in the check "builds". */
enum st_code gr_load_check(struct grading *g, struct st_error *err);

/** Takes the turn for timing on a device, if the grading runs there. On the CPU this may end the
 * session: the inference stage starts it again for its timed runs. */
enum st_code gr_timing_begin(struct grading *g, enum runner_device device, struct st_error *err);

/** @return whether only the smallest size is timed, on the CPU, without a turn. */
bool gr_timing_is_brief(const struct grading *g);

/** Ends the turn for timing. */
void gr_timing_end(struct grading *g);

/** Stage: all unit shapes. Fills in the check "unit_shapes". If they are right, and the times of
 * inference are modelled, inference begins while the proof is still being made. */
enum st_code gr_unit_shapes_check(struct grading *g, struct st_error *err);

/** Completes the check "unit_shapes" and prints it, unless that is done. Call it before anything else
 * is printed. */
enum st_code gr_unit_shapes_conclude(struct grading *g, struct st_error *err);

/** Stage: checks the milestone's technique. It runs after inference, whose runs must also use the
 * technique. Fills in the check "technique", if the rubric has it. */
enum st_code gr_technique_check(struct grading *g, struct st_error *err);

/** The record of a right, timed run, for the comparison with the proof. */
struct gr_timed_work {
    struct conv_shape shape;
    bool is_recorded; /**< the virtual GPU recorded it: what follows is known */
    struct gr_executed run;
    struct gr_copies copies;
};

/** Records the session's last run. Call gr_executed_free() for to->run. */
enum st_code gr_timed_work_record(struct grading *g, const struct conv_shape *shape,
                                  struct gr_timed_work *to, struct st_error *err);

/** Part of inference: gives no points without a proof of the work, whatever the unit shapes'
 * outcome. On the virtual GPU, compares the code that a run executed with the proved code. Names
 * unproved code in @p check and in the check "technique" (gr_check.lacks of both). Waits for the
 * proof. */
enum st_code gr_timed_work_check(struct grading *g, const struct gr_timed_work *work,
                                 struct gr_check *check, struct st_error *err);

/** Part of the unit shapes: after these have passed, completes the proof of the work, and fails @p
 * check if a GPU milestone's kernels did not do the work.
 * @param right  a right shape to prove, too: one that a submission cannot predict, or if some shapes
 * were wrong, one that shows most; or NULL */
enum st_code gr_work_check(struct grading *g, struct gr_check *check,
                           const struct conv_shape *right, struct st_error *err);

/** Frees a proof, which may be NULL. */
void gr_proof_free(struct gr_proof *proof);

/** Stage of m0, instead of all others: runs both halves, oneDNN on the CPU and cuDNN on a GPU, and
 * fills in the checks, Op Times and the course's lines of both. */
enum st_code gr_library_baseline(struct grading *g, struct st_error *err);

/** The state of the inference stage; opaque. */
struct gr_inference_stage;

/** Loads the data set and the model for inference, so that a fault of the environment shows before
 * any work is done. Call gr_inference_close() even after an error. */
enum st_code gr_inference_open(struct gr_inference_stage **stage, struct grading *g,
                               struct st_error *err);

/** Stage: inference at every requested size. Fills in the checks "inference_N". */
enum st_code gr_inference_check(struct gr_inference_stage *stage, struct st_error *err);

/** Stage: the check "speed", from the times of inference. */
void gr_speed_check(struct grading *g);

/** @return ST_OK if the GPU in the rubric's item "speed" can exist: a virtual GPU needs a
 * profile. */
enum st_code gr_speed_known(const struct grading *g, struct st_error *err);

/** Frees the stage, which may be NULL. */
void gr_inference_close(struct gr_inference_stage *stage);

/** Prints one line of the course's output, and keeps the line for the report. */
void gr_course_line(struct grading *g, const char *line, ...) __attribute__((format(printf, 2, 3)));

/** Prints the output of the student's code and of the virtual GPU, if any.
 * @param is_short  omit that of the virtual GPU: the failed check reports its first finding */
void gr_output_print(FILE *out, const struct gr_output *output, const char *source, bool is_short);

/** Prints the sum of the points. */
void gr_score_print(FILE *out, const struct gr_result *result);

/** Writes the files of a grading: the result as JSON (--json), the profile (--profile) and the
 * report's page. Writes the page even if the other files fail. */
enum st_code gr_outputs_write(struct grading *g, struct st_error *err);
