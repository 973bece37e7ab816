/** @file
 * Internal to the gradebook.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

#include <limits.h>
#include <sqlite3.h>

/** Marks a SQLite file as a gradebook: "ConL". */
enum { GB_APPLICATION_ID = 0x436f6e4c };

struct gradebook {
    sqlite3 *db;
    char path[PATH_MAX];
};

/** Makes an error from SQLite's last message: the operation, the file, the reason, and what to
 * do. */
enum st_code gb_fail(const struct gradebook *book, const char *doing, struct st_error *err);

/** Runs statements without results. @p doing names the operation in the error. */
enum st_code gb_run(struct gradebook *book, const char *sql, const char *doing,
                    struct st_error *err);

/** @return the CREATE statements of the current schema, malloc'd, or NULL. */
char *gb_schema_sql(void);

/** Updates an older schema, in one transaction, after copying the file to the same folder. */
enum st_code gb_migrate(struct gradebook *book, int from, struct st_error *err);
