/* Statements without results, transactions, and the error if SQLite rejects a statement. */
#include "grader/gradebook/gradebook_parts.h"

#include <math.h>
#include <stdarg.h>

enum st_code gb_fail(const struct gradebook *book, const char *doing, struct st_error *err)
{
    int why = book->db ? sqlite3_extended_errcode(book->db) : SQLITE_NOMEM;
    enum st_code code = ST_IO;
    const char *hint = "check permissions and free space";
    switch (why & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        hint = "another program has locked it: end that program, then run the command again";
        break;
    case SQLITE_FULL:
        hint =
            "the disk is full: free some space, then run the command again; nothing stored is lost";
        break;
    case SQLITE_READONLY:
        hint =
            "the file or its folder cannot be written: change its permissions, or name another gradebook with --gradebook";
        break;
    case SQLITE_NOTADB:
        code = ST_BAD_FORMAT;
        hint = "this file is not a gradebook: name another file with --gradebook";
        break;
    case SQLITE_CORRUPT:
        code = ST_BAD_FORMAT;
        hint = "the file is damaged: restore a copy of it";
        break;
    case SQLITE_NOMEM:
        code = ST_NO_MEMORY;
        hint = "";
        break;
    default:
        break;
    }
    st_fail(err, code, "cannot %s: %s", doing,
            book->db ? sqlite3_errmsg(book->db) : "out of memory");
    st_detail(err, ST_WHERE, "%s", book->path);
    return st_detail(err, ST_HINT, "%s", hint), code;
}

enum st_code gb_run(struct gradebook *book, const char *sql, const char *doing,
                    struct st_error *err)
{
    return sqlite3_exec(book->db, sql, NULL, NULL, NULL) ? gb_fail(book, doing, err) : ST_OK;
}

enum st_code gb_change(struct gradebook *book, struct st_error *err, const char *sql, ...)
{
    va_list arguments;
    va_start(arguments, sql);
    char *text = sqlite3_vmprintf(sql, arguments);
    va_end(arguments);
    enum st_code code = text ? gb_run(book, text, "write to the gradebook", err)
                             : st_fail(err, ST_NO_MEMORY, "cannot write to the gradebook");
    sqlite3_free(text);
    return code;
}

int gb_changed(const struct gradebook *book)
{
    return sqlite3_changes(book->db);
}

enum st_code gb_number(struct gradebook *book, double *number, struct st_error *err,
                       const char *sql, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list arguments;
    va_start(arguments, sql);
    char *text = sqlite3_vmprintf(sql, arguments);
    va_end(arguments);
    const bool ready = text && !sqlite3_prepare_v2(book->db, text, -1, &statement, NULL);
    const int step = ready ? sqlite3_step(statement) : SQLITE_ERROR;
    const bool null = step != SQLITE_ROW || sqlite3_column_type(statement, 0) == SQLITE_NULL;
    *number = null ? NAN : sqlite3_column_double(statement, 0);
    enum st_code code = ST_OK;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        code = gb_fail(book, "read the gradebook", err);
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return code;
}

/* ---- transactions --------------------------------------------------------------------------- */

enum st_code gb_begin(struct gradebook *book, struct st_error *err)
{
    return gb_run(book, "BEGIN IMMEDIATE", "write to the gradebook", err);
}

enum st_code gb_commit(struct gradebook *book, struct st_error *err)
{
    enum st_code code = gb_run(book, "COMMIT", "write to the gradebook", err);
    if (code)
        gb_rollback(book);
    return code;
}

void gb_rollback(struct gradebook *book)
{
    if (!sqlite3_get_autocommit(book->db))
        sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
}
