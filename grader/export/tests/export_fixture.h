/* Records of results as the grader writes them, and their exports. */
#pragma once

#include "grader/export/export_formats.h"

#include <stdbool.h>

/* A string that tries to break out of every format. */
extern const char hostile[];

/* A result of m1, malloc'd: its first check passed, and its second check has these members. */
char *result_text(const char *status, double points, bool required, const char *message);

/* The record of such a result. */
struct gx_record record_of(const char *status, double points, bool required, const char *message,
                           const char *submission);

/* Exports a record in a format; NULL if the format refuses it. */
char *said(const char *format, struct gx_record *record);

/* Exports a record in all formats: each output must be valid, or refused where the format requires
 * a refusal. Frees the record. */
void expect_valid(struct gx_record record, const char *what);

/* Sets the environment variables of Classroom 50's runner. */
void be_on_a_runner(void);
