/** @file
 * Status codes and error reports, with which every library reports failures.
 *
 * Three kinds of failure exist and are never mixed: a bug of ours is an assert(); a fault of the
 * environment or of the input is a status from the table below, with a struct st_error that states
 * the failure, its location, the expected and the actual value, and a hint; a fault of the
 * student's code is a finding of the grader. Libraries neither print nor exit: they fill the report
 * and return its code.
 */
#pragma once

#include <stdio.h>

/** The only table of statuses: X(name, text, default hint). */
#define ST_MAP(X)                                                                                  \
    X(OK, "success", "")                                                                           \
    X(USAGE, "wrong usage", "see --help")                                                          \
    X(NOT_FOUND, "not found", "check the path")                                                    \
    X(BAD_FORMAT, "malformed input", "the file is damaged or has another format")                  \
    X(TRUNCATED, "truncated input", "copy the file again")                                         \
    X(TOO_LARGE, "too large", "")                                                                  \
    X(NO_MEMORY, "not enough memory", "use fewer images (--images)")                               \
    X(IO, "input or output failed", "check permissions and free space")                            \
    X(SYSTEM, "a system call failed", "")                                                          \
    X(MISSING_TOOL, "a required program is missing", "run: make doctor")                           \
    X(CHILD, "a helper process failed", "")

enum st_code {
#define ST_ENUM(name, text, hint) ST_##name,
    ST_MAP(ST_ENUM)
#undef ST_ENUM
};

/** An error, ready to print. Unknown fields are empty strings. */
struct st_error {
    enum st_code code;
    char what[320];     /**< the failure: "wrong magic number" */
    char where[512];    /**< file, line, offset or option */
    char expected[256]; /**< the expected value */
    char got[256];      /**< the actual value */
    char hint[320];     /**< the remedy */
};

/** A field of st_error that st_detail() sets. */
enum st_field { ST_WHERE, ST_EXPECTED, ST_GOT, ST_HINT };

/** Starts a report: sets code and what (printf style), clears the other fields, and fills in the
 * table's default hint. @param err may be NULL. @return @p code. */
enum st_code st_fail(struct st_error *err, enum st_code code, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/** Like st_fail() with ST_IO; appends ": " and the text of @p errnum to what.
 * ENOSPC and EDQUOT get the hint to free space; ENOENT gets the code ST_NOT_FOUND, ENOMEM
 * ST_NO_MEMORY.
 */
enum st_code st_fail_errno(struct st_error *err, int errnum, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/** Sets one detail of a report, printf style. @param err may be NULL. @return the report's code. */
enum st_code st_detail(struct st_error *err, enum st_field field, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/** @return the table's text for a status. */
const char *st_text(enum st_code code);

/** Writes a report to a stream as one line:
 * "program: what: where: expected E, got G (hint: H)". Control characters are escaped. */
void st_print(FILE *out, const char *program, const struct st_error *err);
