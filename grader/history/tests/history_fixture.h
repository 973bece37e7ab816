/* Records of gradings for the tests of the history. */
#pragma once

#include "grader/history/history.h"

/** The report folder that these functions use; the suite's .init sets it. */
extern char report_folder[PATH_MAX];

/** A record of m3 at these sizes, which 0 ends; calloc'd. @param source  the text whose hash the
 * record has @param seconds  the time of layer 1 at 100 images; other times are in proportion */
struct gr_result *record_of(const char *source, const char *date, double seconds,
                            const size_t *images);

/** The record's check of this name; asserts that it exists. */
struct gr_check *check_of(struct gr_result *r, const char *name);

/** Adds a grading to its history and frees it. @param profiled  whether it has a profile of its
 * sizes
 * @return the note */
const char *keep_record(struct gr_result *r, const char *source, bool profiled);

/** The names of the versions, separated by spaces. */
const char *versions(void);
