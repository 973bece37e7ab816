/** @file
 * The exported record of one grading, read from result.json or from the gradebook. All formats are
 * written from this record, so that they cannot contradict each other.
 *
 * A record is either graded or a fault. A fault is anything that prevented the grading and is not
 * the submission's fault: a fault never has a score.
 */
#pragma once

#include "base/status.h"
#include "grader/record/result.h"

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/** One check. Strings belong to the record, are UTF-8 and never NULL. */
struct gx_check {
    const char *name, *text;
    enum gr_status status;
    double points, max_points;
    bool required; /**< if this check is skipped, the submission could not be graded */
    const char *message, *hint, *map;
};

/** One submission's grading of one milestone. */
struct gx_record {
    const char *submission; /**< student or team, as in the gradebook; "" for a single result */
    const char *milestone, *title, *device, *version, *date;
    const char
        *status; /**< pass, fail, missing or rejected (with score 0); fault (without a score) */
    const char *fault;       /**< the reason why the submission was not graded, or NULL if it was */
    double score, max_score; /**< automatic points; NAN for a fault */
    double manual;           /**< points that the instructor has entered so far; NAN: none */
    const char *comments;    /**< the instructor's manual entries, one per line, or "" */
    double op_time_s;        /**< sum over all layers at the largest size that was right, or NAN */
    double uncertainty_s;    /**< uncertainty of op_time_s */
    size_t images;           /**< the data-set size of op_time_s */
    double seconds;          /**< duration of the grading, or NAN if unknown */
    size_t checks;
    struct gx_check *check;
    struct cJSON *strings; /**< owns the strings that were read, and those of gx_record_keep() */
};

/** The records of a class, or a single result. */
struct gx_class {
    size_t records;
    struct gx_record *record;
};

/** Reads result.json. @param submission  its student or team, copied. @return ST_BAD_FORMAT, with
 * the position, if the file is not the grader's. */
enum st_code gx_record_read(struct gx_record *to, const char *path, const char *submission,
                            struct st_error *err);

/** Makes an empty record. @return false: out of memory. Free the record in any case. */
bool gx_record_start(struct gx_record *to, const char *submission, const char *milestone,
                     size_t checks);

/** Copies a string into the record, which owns the copy. NULL becomes "", and so does any string if
 * memory runs out. */
const char *gx_record_keep(struct gx_record *record, const char *text);

/** Sets whether the record is graded, and its status, from its checks. */
void gx_record_judge(struct gx_record *record);

/** Makes the record a fault, which has no score. */
void gx_record_set_fault(struct gx_record *record, const char *reason);

/** Frees a record; harmless on a zeroed record. */
void gx_record_free(struct gx_record *record);

/** Adds a record. The class then owns the record, even after an error. */
enum st_code gx_class_add(struct gx_class *class, struct gx_record *record, struct st_error *err);

/** Frees all records. */
void gx_class_free(struct gx_class *class);
