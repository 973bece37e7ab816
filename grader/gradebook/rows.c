/* Reads and writes rows: one reader and one writer for all tables. schema.def lists the columns of
 * each table, and the corresponding members of its struct. */
#include "base/array_room.h"
#include "grader/gradebook/gradebook_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum column_type { TEXT, INTEGER, REAL };

struct column {
    const char *name;
    enum column_type type;
    size_t offset;
};

struct layout {
    const char *name;
    size_t row_bytes;
    size_t columns;
    const struct column *column;
};

#define GB_TABLE(table, doc) static const struct column table##_columns[] = {
#define GB_COLUMN(table, column, type, sql, doc)                                                   \
    {#column, type, offsetof(struct gb_##table, column)},
#define GB_END(table, constraints)                                                                 \
    }                                                                                              \
    ;                                                                                              \
    static const struct layout table##_layout = {#table, sizeof(struct gb_##table),                \
                                                 sizeof table##_columns / sizeof *table##_columns, \
                                                 table##_columns};
#include "grader/gradebook/schema.def"
#undef GB_TABLE
#undef GB_COLUMN
#undef GB_END

/* ---- statements ----------------------------------------------------------------------------- */

static void add_columns(sqlite3_str *sql, const struct layout *table)
{
    for (size_t i = 0; i < table->columns; i++)
        sqlite3_str_appendf(sql, "%s%s", i ? ", " : "", table->column[i].name);
}

/* Takes ownership of the text. */
static enum st_code prepare(struct gradebook *book, sqlite3_str *sql, const char *doing,
                            sqlite3_stmt **statement, struct st_error *err)
{
    *statement = NULL;
    char *text = sqlite3_str_finish(sql);
    int failed = !text || sqlite3_prepare_v2(book->db, text, -1, statement, NULL);
    sqlite3_free(text);
    return failed ? gb_fail(book, doing, err) : ST_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* @return false: out of memory. */
static bool take_column(const struct column *column, sqlite3_stmt *statement, int i, void *row)
{
    void *to = (char *)row + column->offset;
    const char *text;
    switch (column->type) {
    case INTEGER:
        *(int64_t *)to = sqlite3_column_int64(statement, i);
        return true;
    case REAL:
        *(double *)to = sqlite3_column_type(statement, i) == SQLITE_NULL
                            ? NAN
                            : sqlite3_column_double(statement, i);
        return true;
    case TEXT:
        text = (const char *)sqlite3_column_text(statement, i);
        *(char **)to = text ? strdup(text) : NULL;
        return !text || *(char **)to;
    }
    return false;
}

static void free_rows(const struct layout *table, void *rows, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < table->columns; i++)
            if (table->column[i].type == TEXT)
                free(*(char **)((char *)rows + r * table->row_bytes + table->column[i].offset));
    free(rows);
}

/* Appends the current row of the statement. */
static bool take_row(const struct layout *table, sqlite3_stmt *statement, char **rows, size_t *n)
{
    if (!array_room(rows, *n, table->row_bytes))
        return false;
    void *row = *rows + (*n)++ * table->row_bytes;
    memset(row, 0, table->row_bytes);
    for (size_t i = 0; i < table->columns; i++)
        if (!take_column(&table->column[i], statement, (int)i, row))
            return false;
    return true;
}

static enum st_code read_rows(struct gradebook *book, const struct layout *table, void **rows,
                              size_t *n, struct st_error *err, const char *tail, va_list arguments)
{
    sqlite3_str *sql = sqlite3_str_new(book->db);
    sqlite3_str_appendall(sql, "SELECT ");
    add_columns(sql, table);
    sqlite3_str_appendf(sql, " FROM %s ", table->name);
    sqlite3_str_vappendf(sql, tail, arguments);
    sqlite3_stmt *statement;
    *rows = NULL;
    *n = 0;
    enum st_code code = prepare(book, sql, "read the gradebook", &statement, err);
    if (code)
        return code;
    int step;
    char *taken = NULL;
    while (!code && (step = sqlite3_step(statement)) != SQLITE_DONE) {
        if (step != SQLITE_ROW)
            code = gb_fail(book, "read the gradebook", err);
        else if (!take_row(table, statement, &taken, n))
            code = st_fail(err, ST_NO_MEMORY, "out of memory for the gradebook's rows");
    }
    sqlite3_finalize(statement);
    if (code) {
        free_rows(table, taken, *n);
        *n = 0;
        return code;
    }
    *rows = taken;
    return ST_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Binds a column. For an id of 0, SQLite chooses the id. */
static void bind_column(const struct column *column, sqlite3_stmt *statement, int i,
                        const void *row)
{
    const void *from = (const char *)row + column->offset;
    int64_t number;
    double real;
    switch (column->type) {
    case INTEGER:
        number = *(const int64_t *)from;
        if (number || strcmp(column->name, "id") != 0)
            sqlite3_bind_int64(statement, i, number);
        return;
    case REAL:
        real = *(const double *)from;
        if (isfinite(real))
            sqlite3_bind_double(statement, i, real);
        return;
    case TEXT:
        sqlite3_bind_text(statement, i, *(char *const *)from, -1, SQLITE_STATIC);
        return;
    }
}

/* A row with the same key is updated, not replaced, because other rows may refer to it. */
static enum st_code put_row(struct gradebook *book, const struct layout *table, const void *row,
                            struct st_error *err)
{
    sqlite3_str *sql = sqlite3_str_new(book->db);
    sqlite3_str_appendf(sql, "INSERT INTO %s (", table->name);
    add_columns(sql, table);
    sqlite3_str_appendall(sql, ") VALUES (");
    for (size_t i = 0; i < table->columns; i++)
        sqlite3_str_appendf(sql, "%s?%d", i ? ", " : "", (int)i + 1);
    sqlite3_str_appendall(sql, ") ON CONFLICT DO UPDATE SET ");
    for (size_t i = 0; i < table->columns; i++)
        sqlite3_str_appendf(sql, "%s%s = excluded.%s", i ? ", " : "", table->column[i].name,
                            table->column[i].name);
    sqlite3_stmt *statement;
    enum st_code code = prepare(book, sql, "write to the gradebook", &statement, err);
    if (code)
        return code;
    for (size_t i = 0; i < table->columns; i++)
        bind_column(&table->column[i], statement, (int)i + 1, row);
    if (sqlite3_step(statement) != SQLITE_DONE)
        code = gb_fail(book, "write to the gradebook", err);
    sqlite3_finalize(statement);
    return code;
}

#define ROW_OF(table)                                                                              \
    const struct gb_##table *gb_##table##_of(const struct gb_##table##_list *list,                 \
                                             const char *submission, const char *milestone)        \
    {                                                                                              \
        for (size_t i = 0; i < list->n; i++)                                                       \
            if (strcmp(list->row[i].submission, submission) == 0 &&                                \
                strcmp(list->row[i].milestone, milestone) == 0)                                    \
                return &list->row[i];                                                              \
        return NULL;                                                                               \
    }
ROW_OF(grade)
ROW_OF(handin)

int64_t gb_last_id(const struct gradebook *book)
{
    return sqlite3_last_insert_rowid(book->db);
}

/* ---- functions per table -------------------------------------------------------------------- */

#define GB_TABLE(table, doc)                                                                       \
    enum st_code gb_##table##_read(struct gradebook *book, struct gb_##table##_list *list,         \
                                   struct st_error *err, const char *tail, ...)                    \
    {                                                                                              \
        void *rows;                                                                                \
        va_list arguments;                                                                         \
        va_start(arguments, tail);                                                                 \
        enum st_code code =                                                                        \
            read_rows(book, &table##_layout, &rows, &list->n, err, tail, arguments);               \
        va_end(arguments);                                                                         \
        list->row = rows;                                                                          \
        return code;                                                                               \
    }                                                                                              \
    void gb_##table##_free(struct gb_##table##_list *list)                                         \
    {                                                                                              \
        free_rows(&table##_layout, list->row, list->n);                                            \
        list->row = NULL;                                                                          \
        list->n = 0;                                                                               \
    }                                                                                              \
    enum st_code gb_##table##_put(struct gradebook *book, const struct gb_##table *row,            \
                                  struct st_error *err)                                            \
    {                                                                                              \
        return put_row(book, &table##_layout, row, err);                                           \
    }
#define GB_COLUMN(table, column, type, sql, doc)
#define GB_END(table, constraints)
#include "grader/gradebook/schema.def"
#undef GB_TABLE
#undef GB_COLUMN
#undef GB_END
