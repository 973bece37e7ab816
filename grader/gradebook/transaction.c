/* Statements without results, transactions, and the report when SQLite refuses one. */
#include "grader/gradebook/gradebook_parts.h"

enum st_code gb_fail(const struct gradebook *book, const char *doing, struct st_error *err)
{
    int why = book->db ? sqlite3_extended_errcode(book->db) : SQLITE_NOMEM;
    enum st_code code = ST_IO;
    const char *hint = "check permissions and free space";
    switch (why & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        hint = "another program has it locked: end that one, then run the command again";
        break;
    case SQLITE_FULL:
        hint = "the disk is full: free some space, then run the command again; nothing stored is "
               "lost";
        break;
    case SQLITE_READONLY:
        hint = "the file or its folder cannot be written: change its permissions, or name another "
               "with --gradebook";
        break;
    case SQLITE_NOTADB:
        code = ST_BAD_FORMAT;
        hint = "this file is no gradebook: name another with --gradebook";
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
    st_fail(err, code, "cannot %s: %s", doing, book->db ? sqlite3_errmsg(book->db) : "no memory");
    st_detail(err, ST_WHERE, "%s", book->path);
    return st_detail(err, ST_HINT, "%s", hint), code;
}

enum st_code gb_run(struct gradebook *book, const char *sql, const char *doing,
                    struct st_error *err)
{
    return sqlite3_exec(book->db, sql, NULL, NULL, NULL) ? gb_fail(book, doing, err) : ST_OK;
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
