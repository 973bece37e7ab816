/** @file
 * `grader sweep mN NAME=V1,V2,... [NAME2=...]`: grades a lab with each value of its compile-time
 * parameters.
 *
 *     sweep_parameters.c   the requested parameters, and whether the source has them
 *     sweep_run.c          builds and checks each combination, times all of them alternately
 *     sweep_report.c       sweep-P.tsv, sweep-P.md, and the printed table
 *     sweep_command.c      the command line
 *
 * A combination that does not compile, is wrong or does not run gets a row that reports the reason.
 */
#pragma once

#include "base/status.h"
#include "grader/stages/grading.h"
#include "grader/sandbox/source_build.h"
#include "nn/network.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    SWEEP_MAX_PARAMETERS = 4,
    SWEEP_MAX_VALUES = 32, /**< per parameter */
    SWEEP_MAX_POINTS = 64, /**< combinations */
    SWEEP_MAX_REPEATS = 16,
    SWEEP_TEXT = 33 /**< size of a name or a value */
};

/** A parameter of the command line: NAME=V1,V2,... */
struct sweep_parameter {
    char name[SWEEP_TEXT];
    size_t values;
    char value[SWEEP_MAX_VALUES][SWEEP_TEXT];
};

/** The times of one layer at one size with one combination. */
struct sweep_time {
    size_t repeats;
    double op_time_s[SWEEP_MAX_REPEATS];
    char limiter[24], block[24]; /**< virtual GPU: limiter and block size of the longest kernel,
                                      otherwise "" */
    double occupancy;            /**< of the longest kernel, or NAN */
    int registers;               /**< of the longest kernel, or 0 */
    size_t shared_bytes;
};

/** The result of a combination. */
enum sweep_status { SWEEP_OK, SWEEP_NOT_COMPILED, SWEEP_WRONG, SWEEP_FAILED };

/** One combination of values. */
struct sweep_point {
    size_t value[SWEEP_MAX_PARAMETERS]; /**< index of each parameter's value */
    struct gr_source_build build;
    struct gr_session session;
    bool running;
    enum sweep_status status;
    size_t failed_images; /**< the size at which it failed; 0: before any size */
    char note[320];       /**< the reason if the combination is not right */
    struct sweep_time time[GR_MAX_SIZES][NN_MAX_CONVS];
};

/** A sweep. The structure is large: allocate it on the heap. */
struct sweep {
    struct gr_options options;
    struct grading grading;
    struct gr_result result;
    size_t parameters, points;
    struct sweep_parameter parameter[SWEEP_MAX_PARAMETERS];
    struct sweep_point *point; /**< [points], in the order of the command line; the last parameter
                                    changes fastest */
    struct conv_shape shape[NN_MAX_CONVS];
    int layers;
    char source[PATH_MAX];
    char model[64];
    char origin[160]; /**< "modelled: virtual GPU, profile h200", "measured on NVIDIA H200" */
};

/* ---- sweep_parameters.c ---------------------------------------------------------------------- */

/** Reads "NAME=V1,V2,...". A name is a C identifier; a value consists of letters, digits, '_', '.',
 * '+' and '-'. @return ST_USAGE, describing the mistake, if the text is invalid. */
enum st_code sweep_parameter_parse(struct sweep *sweep, const char *text, struct st_error *err);

/** Makes the points: all combinations of the values. @return ST_USAGE if there are too many. */
enum st_code sweep_points_make(struct sweep *sweep, struct st_error *err);

/** Checks that -D can change every parameter in a source. @return ST_USAGE, naming the parameters
 * that can be changed, if not. */
enum st_code sweep_source_check(const struct sweep *sweep, const char *path, struct st_error *err);

/** Writes the values of a point: "8" or "8, 16". @return @p to. */
const char *sweep_values(char to[160], const struct sweep *sweep, const struct sweep_point *point);

/** Writes the parameters' names: "BLK_H, ROWS" or, with @p between "-", "BLK_H-ROWS".
 * @return @p to. */
const char *sweep_names(char to[160], const struct sweep *sweep, const char *between);

/* ---- sweep_run.c ----------------------------------------------------------------------------- */

/** Builds, checks and times every point. @return ST_OK, whatever the results; any other status: the
 * sweep could not run on this machine. */
enum st_code sweep_run(struct sweep *sweep, struct st_error *err);

/** Frees the members of a sweep, and ends its processes. */
void sweep_free(struct sweep *sweep);

/* ---- sweep_report.c -------------------------------------------------------------------------- */

/** The median Op Time, in seconds, of a layer at a size (layer -1: of all layers together); NAN if
 * the point was not right at this size. */
double sweep_median_s(const struct sweep *sweep, const struct sweep_point *point, size_t size,
                      int layer);

/** The point with the smallest sum of times at a size; NULL if no point was right. */
const struct sweep_point *sweep_best(const struct sweep *sweep, size_t size);

void sweep_print(FILE *out, const struct sweep *sweep);
void sweep_tsv(FILE *out, const struct sweep *sweep);
void sweep_markdown(FILE *out, const struct sweep *sweep);
