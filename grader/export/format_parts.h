/** @file
 * Parts that the formats have in common.
 */
#pragma once

#include "grader/export/export_record.h"

#include <stdio.h>

enum { GX_MILESTONE_CHARS = 8 };

/** Takes the next milestone of a list such as m1,m3. @return false at the end of the list */
bool gx_milestone_next(const char **list, char name[GX_MILESTONE_CHARS]);

/** The name of the only check of a missing or rejected submission. */
#define GX_SUBMITTED "submitted"

/** @return whether the record has no submission to grade. */
bool gx_record_lacks_submission(const struct gx_record *record);

/** @return whether a check has points, even 0: it ran, or it did not run because an earlier check
 * failed. */
bool gx_check_counts(const struct gx_record *record, const struct gx_check *check);

/** @return the checks of a record; for a fault without checks, a single check that could not be
 * graded. @param room  memory for this single check @param n  set to the number of checks */
const struct gx_check *gx_checks_or_fault(const struct gx_record *record, struct gx_check *room,
                                          size_t *n);

/** Makes the text of a check for the student: message, error map and hint. @return malloc'd text,
 * or NULL. */
char *gx_check_output(const struct gx_check *check);

/** Adds an empty object at the end of a list. @return the object */
struct cJSON *gx_json_entry(struct cJSON *list);

/** Adds a string, in which bytes that are not UTF-8 are replaced. */
void gx_json_text(struct cJSON *to, const char *name, const char *text);

/** Adds "output": milestone, device and time of the grading, and the manual entries. */
void gx_json_output(struct cJSON *to, const struct gx_record *record);

/** Writes a cJSON tree and a newline, and deletes the tree. @param line  whether to write it on one
 * line. */
enum st_code gx_json_print(FILE *out, struct cJSON *root, bool line, struct st_error *err);

/** Writes a cell of a CSV table: quoted if needed, without formulas and terminal control
 * characters. */
void gx_put_cell(FILE *out, const char *text);

/** Writes @p n cells, separated by commas. */
void gx_put_cells(FILE *out, size_t n, const char *const cell[]);
