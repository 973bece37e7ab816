/** @file
 * Common parts of the formats.
 */
#pragma once

#include "grader/export/export_record.h"

#include <stdio.h>

enum { GX_MILESTONE_CHARS = 8 };

/** Takes the next milestone of a list like m1,m3. @return false at its end */
bool gx_milestone_next(const char **list, char name[GX_MILESTONE_CHARS]);

/** The name of the only check of a missing or rejected submission. */
#define GX_SUBMITTED "submitted"

/** @return whether the record has no submission to grade. */
bool gx_record_lacks_submission(const struct gx_record *record);

/** @return whether a check has points, even 0: it ran, or did not because an earlier one failed. */
bool gx_check_counts(const struct gx_record *record, const struct gx_check *check);

/** @return the checks of a record; for a fault without checks, one check that could not be graded.
 * @param room  for that check; @param n  set to their number */
const struct gx_check *gx_checks_or_fault(const struct gx_record *record, struct gx_check *room,
                                          size_t *n);

/** The text of a check for the student: message, error map and hint. @return malloc'd, or NULL. */
char *gx_check_output(const struct gx_check *check);

/** Adds an empty object at the end of a list. @return it */
struct cJSON *gx_json_entry(struct cJSON *list);

/** Adds a string, with bytes that are not UTF-8 replaced. */
void gx_json_text(struct cJSON *to, const char *name, const char *text);

/** Adds "output": milestone, place and time of the grading, and the manual entries. */
void gx_json_output(struct cJSON *to, const struct gx_record *record);

/** Writes a cJSON tree and a newline, and deletes it. @param line  on one line. */
enum st_code gx_json_print(FILE *out, struct cJSON *root, bool line, struct st_error *err);

/** Writes a cell of a CSV table: quoted where needed, without formulas and terminal control characters. */
void gx_put_cell(FILE *out, const char *text);

/** Writes @p n cells, separated by commas. */
void gx_put_cells(FILE *out, size_t n, const char *const cell[]);
