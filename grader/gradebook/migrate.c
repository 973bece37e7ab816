/* Updates older schemas. Each step of the table converts a gradebook from one version to the next;
 * a step is never changed once a gradebook of its version may exist. */
#include "grader/gradebook/gradebook_parts.h"

#include "base/files.h"

/* steps[i] converts version i + 1 to i + 2. */
static const char *const steps[] = {
    "ALTER TABLE attempt ADD COLUMN alone INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE attempt ADD COLUMN timed_on TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN timed_from REAL;"
    "ALTER TABLE attempt ADD COLUMN timed_until REAL",
    "ALTER TABLE roster ADD COLUMN platform_id TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE roster ADD COLUMN sis_id TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE roster ADD COLUMN section TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE handin (submission TEXT NOT NULL REFERENCES submission (name), milestone TEXT NOT NULL,"
    "submitted REAL, marked_late INTEGER NOT NULL, source TEXT NOT NULL, report TEXT,"
    "report_name TEXT NOT NULL, report_bytes INTEGER NOT NULL, PRIMARY KEY (submission, milestone)) STRICT",
    ("CREATE TABLE member (student TEXT NOT NULL, milestone TEXT NOT NULL, submission TEXT NOT NULL,"
     "PRIMARY KEY (student, milestone)) STRICT"),
};

_Static_assert(sizeof steps / sizeof *steps == GB_VERSION - 1, "one step from each older version");

/* Makes a complete copy before anything is changed. An existing file with the copy's name was made
 * by an interrupted migration, and is kept. */
static enum st_code back_up(struct gradebook *book, int from, struct st_error *err)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    if (path_make(path, sizeof path, err, "%s.version-%d", book->path, from) ||
        path_make(temporary, sizeof temporary, err, "%s.tmp", path))
        return err->code;
    if (file_exists(path))
        return ST_OK;
    remove(temporary);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", temporary);
    enum st_code code = sql ? gb_run(book, sql, "copy the gradebook before it is changed", err)
                            : st_fail(err, ST_NO_MEMORY, "cannot copy the gradebook");
    sqlite3_free(sql);
    if (!code && rename(temporary, path)) {
        code = st_fail(err, ST_IO, "cannot copy the gradebook before it is changed");
        st_detail(err, ST_WHERE, "%s", path);
    }
    if (code)
        remove(temporary);
    return code;
}

enum st_code gb_migrate(struct gradebook *book, int from, struct st_error *err)
{
    enum st_code code = back_up(book, from, err);
    if (!code)
        code = gb_begin(book, err);
    for (int version = from; !code && version < GB_VERSION; version++)
        code = gb_run(book, steps[version - 1], "update the gradebook", err);
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", GB_VERSION);
    if (!code)
        code = gb_run(book, sql, "update the gradebook", err);
    if (!code)
        code = gb_commit(book, err);
    if (code)
        gb_rollback(book);
    return code;
}
