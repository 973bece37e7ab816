/** @file
 * The exported record of one grading, read from result.json or from the gradebook. Every format is
 * written from it, so that formats cannot differ.
 *
 * A record is either graded or a fault. A fault is anything that prevented the grading and is not
 * the submission's doing: it never has a score.
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
    bool required; /**< if skipped, the submission could not be graded */
    const char *message, *hint, *map;
};

/** One submission's grading of one milestone. */
struct gx_record {
    const char *submission; /**< in the gradebook: student or team; "" for a single result */
    const char *milestone, *title, *device, *version, *date;
    const char
        *status; /**< pass, fail, missing or rejected (with a zero); fault (without a score) */
    const char *fault;       /**< the reason why it was not graded, or NULL if it was */
    double score, max_score; /**< automatic points; NAN for a fault */
    double manual;           /**< points that the instructor has entered so far, NAN without any */
    const char *comments;    /**< the instructor's manual entries, one per line, or "" */
    double op_time_s;        /**< all layers at the largest size that was right, or NAN */
    double uncertainty_s;    /**< uncertainty of op_time_s */
    size_t images;           /**< the size of op_time_s */
    double seconds;          /**< duration of the grading, or NAN if unknown */
    size_t checks;
    struct gx_check *check;
    struct cJSON *strings; /**< owns the strings: those read, and those of gx_record_keep() */
};

/** The records of a class, or of one result. */
struct gx_class {
    size_t records;
    struct gx_record *record;
};

/** Reads result.json. @param submission  its student or team, copied. @return ST_BAD_FORMAT with
 * the place if it is not a file of the grader. */
enum st_code gx_record_read(struct gx_record *to, const char *path, const char *submission,
                            struct st_error *err);

/** Makes an empty record. @return false without memory; free it in any case. */
bool gx_record_start(struct gx_record *to, const char *submission, const char *milestone,
                     size_t checks);

/** Copies a string into the record, which owns it. NULL becomes "", and so does a string for which
 * there is no memory. */
const char *gx_record_keep(struct gx_record *record, const char *text);

/** Sets from the checks whether the record is graded, and its status. */
void gx_record_judge(struct gx_record *record);

/** Makes the record a fault: without a score. */
void gx_record_set_fault(struct gx_record *record, const char *reason);

/** Releases a record; harmless on a zeroed record. */
void gx_record_free(struct gx_record *record);

/** Adds a record, which the class then owns, even after an error. */
enum st_code gx_class_add(struct gx_class *class, struct gx_record *record, struct st_error *err);

/** Releases all records. */
void gx_class_free(struct gx_class *class);
