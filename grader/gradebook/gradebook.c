/* Opens a gradebook. */
#include "grader/gradebook/gradebook_parts.h"

#include "base/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUSY_MS = 5000 };

/* Makes the tables, unless another process has just done so. */
static enum st_code create(struct gradebook *book, struct st_error *err)
{
    double version = 0;
    enum st_code code = gb_begin(book, err);
    if (!code)
        code = gb_number(book, &version, err, "PRAGMA user_version");
    if (!code && version == 0) {
        char *tables = gb_schema_sql();
        char pragmas[128];
        snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                 GB_APPLICATION_ID, GB_VERSION);
        code = tables ? gb_run(book, tables, "create the gradebook", err)
                      : st_fail(err, ST_NO_MEMORY, "cannot create the gradebook");
        if (!code)
            code = gb_run(book, pragmas, "create the gradebook", err);
        free(tables);
    }
    if (!code)
        code = gb_commit(book, err);
    if (code)
        gb_rollback(book);
    return code;
}

static enum st_code refuse(const struct gradebook *book, struct st_error *err, const char *what,
                           const char *hint)
{
    st_fail(err, ST_BAD_FORMAT, "%s", what);
    st_detail(err, ST_WHERE, "%s", book->path);
    st_detail(err, ST_HINT, "%s", hint);
    return ST_BAD_FORMAT;
}

/* Checks that the file is a gradebook whose version this program can read. */
static enum st_code check_version(struct gradebook *book, enum gb_access access,
                                  struct st_error *err)
{
    double id = 0, version = 0, tables = 0;
    enum st_code code = gb_number(book, &id, err, "PRAGMA application_id");
    if (!code)
        code = gb_number(book, &version, err, "PRAGMA user_version");
    if (!code)
        code = gb_number(book, &tables, err, "SELECT count(*) FROM sqlite_master");
    if (code)
        return code;
    if (id == 0 && version == 0 && tables == 0)
        return access == GB_CREATE ? create(book, err)
                                   : refuse(book, err, "the gradebook is empty",
                                            "grade a class first: grader class");
    if (id != GB_APPLICATION_ID)
        return refuse(book, err, "this database is not a gradebook",
                      "name another file with --gradebook");
    if (version == GB_VERSION)
        return ST_OK;
    if (version > GB_VERSION || version < 1) {
        refuse(book, err, "the gradebook has another version",
               "use the version of ConvLab that wrote it");
        st_detail(err, ST_EXPECTED, "at most version %d", GB_VERSION);
        st_detail(err, ST_GOT, "%.0f", version);
        return ST_BAD_FORMAT;
    }
    if (access == GB_READ)
        return refuse(book, err, "the gradebook has an older version",
                      "grader class with --gradebook updates it and keeps a copy");
    return gb_migrate(book, (int)version, err);
}

/* Writes a path as a URI: every byte except letters and digits as %HH. */
static void make_uri(char *to, size_t room, const char *path, const char *parameters)
{
    size_t used = (size_t)snprintf(to, room, "file:");
    for (const char *p = path; *p && used + 4 < room; p++)
        used += (size_t)snprintf(to + used, room - used,
                                 isalnum((unsigned char)*p) || *p == '/' ? "%c" : "%%%02X",
                                 (unsigned char)*p);
    snprintf(to + used, room - used, "%s", parameters);
}

/* WAL needs a second file next to the database, even for reading. If that file cannot be created,
 * the database can still be read as an immutable file if no writer has it open. */
static bool is_plain_file(const char *path)
{
    char beside[PATH_MAX + 8];
    snprintf(beside, sizeof beside, "%s-wal", path);
    return access(path, W_OK) != 0 && !file_exists(beside);
}

static enum st_code open_file(struct gradebook *book, enum gb_access to_do, struct st_error *err)
{
    static const int flags[] = {[GB_READ] = SQLITE_OPEN_READONLY,
                                [GB_WRITE] = SQLITE_OPEN_READWRITE,
                                [GB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    char uri[3 * PATH_MAX + 32];
    make_uri(uri, sizeof uri, book->path,
             to_do == GB_READ && is_plain_file(book->path) ? "?immutable=1" : "");
    return sqlite3_open_v2(uri, &book->db, flags[to_do] | SQLITE_OPEN_URI, NULL)
               ? gb_fail(book, "open the gradebook", err)
               : ST_OK;
}

enum st_code gb_open(struct gradebook **to, const char *path, enum gb_access access,
                     struct st_error *err)
{
    *to = NULL;
    struct gradebook *book = calloc(1, sizeof *book);
    if (!book)
        return st_fail(err, ST_NO_MEMORY, "cannot open the gradebook");
    if (path_make(book->path, sizeof book->path, err, "%s", path)) {
        free(book);
        return err->code;
    }
    enum st_code code = ST_OK;
    if (access != GB_CREATE && !file_exists(path)) {
        st_fail(err, ST_NOT_FOUND, "the gradebook does not exist");
        st_detail(err, ST_WHERE, "%s", path);
        st_detail(err, ST_HINT, "grade a class first: grader class");
        code = ST_NOT_FOUND;
    }
    if (!code)
        code = open_file(book, access, err);
    if (!code) {
        sqlite3_extended_result_codes(book->db, 1);
        sqlite3_busy_timeout(book->db, BUSY_MS);
        code = check_version(book, access, err);
    }
    if (!code && access != GB_READ)
        code = gb_run(book, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
                      "write to the gradebook", err);
    if (!code)
        code = gb_run(book, "PRAGMA foreign_keys = ON", "read the gradebook", err);
    if (code) {
        gb_close(book);
        return code;
    }
    *to = book;
    return ST_OK;
}

void gb_close(struct gradebook *book)
{
    if (!book)
        return;
    sqlite3_close(book->db);
    free(book);
}

const char *gb_path(const struct gradebook *book)
{
    return book->path;
}
