/** @file
 * The gradebook: one SQLite file with everything known about a class.
 *
 * schema.def is the only description of its tables. For each table T, this header has
 *
 *     struct gb_T                                      a row
 *     struct gb_T_list { size_t n; struct gb_T *row; } rows in memory
 *     gb_T_read(book, &list, err, tail, ...)           SELECT ... FROM T <tail>
 *     gb_T_free(&list)
 *     gb_T_put(book, &row, err)                        INSERT OR REPLACE
 *
 * for example, all grades of m1 from the best to the worst:
 *
 *     gb_grade_read(book, &list, err, "WHERE milestone = %Q ORDER BY score DESC", "m1");
 *
 * SQL is formatted by sqlite3_mprintf(): %Q is a quoted text (or NULL), %lld a number. Callers must
 * not insert texts in any other way.
 *
 * A reader may open the file while a class is being graded: it sees only complete grades (WAL).
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GB_VERSION = 5 };

/** An open gradebook. */
struct gradebook;

/** The purpose of opening a gradebook. */
enum gb_access {
    GB_READ,  /**< changes nothing, not even an old schema, which is refused */
    GB_WRITE, /**< the file must exist; an older schema is updated after making a backup copy */
    GB_CREATE /**< as GB_WRITE, but creates the file if it does not exist */
};

#define GB_DEFAULT_PATH "gradebook.db"

/** --gradebook FILE (-g), for a command's table of options (base/option_table.h).
 * @param member  a const char * whose default is GB_DEFAULT_PATH */
#define GB_OPTION_ROW(type, member)                                                                \
    {                                                                                              \
        "gradebook", 'g', "FILE", "the gradebook (default: " GB_DEFAULT_PATH ")",                  \
            OPTION_TEXT(type, member)                                                              \
    }

/** Opens a gradebook. @return ST_OK; ST_NOT_FOUND; ST_BAD_FORMAT if it is not a gradebook or from a
 * newer ConvLab; ST_IO if it is locked or read-only, or the disk is full. @p book is NULL on
 * error. */
enum st_code gb_open(struct gradebook **book, const char *path, enum gb_access access,
                     struct st_error *err);

/** Closes a gradebook, which may be NULL. */
void gb_close(struct gradebook *book);

/** For a command: opens a gradebook, calls @p run and closes it; prints an error after @p name.
 * @return the exit status: 0, or 2 after an error. */
int gb_command(const char *name, const char *path, enum gb_access access,
               enum st_code (*run)(struct gradebook *book, void *arguments, struct st_error *err),
               void *arguments);

/** @return the path with which the gradebook was opened. */
const char *gb_path(const struct gradebook *book);

/** Begins a transaction: gb_commit() stores all later changes or none. Transactions do not nest. */
enum st_code gb_begin(struct gradebook *book, struct st_error *err);

/** Stores the changes since gb_begin(). On error, none of them is stored. */
enum st_code gb_commit(struct gradebook *book, struct st_error *err);

/** Discards the changes since gb_begin(); harmless if there are none. */
void gb_rollback(struct gradebook *book);

/** Runs a statement that changes rows: gb_change(book, err, "DELETE FROM roster"). */
enum st_code gb_change(struct gradebook *book, struct st_error *err, const char *sql, ...);

/** @return the number of rows changed by the last gb_change(). */
int gb_changed(const struct gradebook *book);

/** Queries one number: gb_number(book, &n, err, "SELECT count(*) FROM grade"). @param number  set
 * to the result; NAN if it is NULL or there is no row */
enum st_code gb_number(struct gradebook *book, double *number, struct st_error *err,
                       const char *sql, ...);

#define GB_C_TEXT    char *
#define GB_C_INTEGER int64_t
#define GB_C_REAL    double
#define GB_TABLE(table, doc)                                                                       \
    /** A row of the table of the same name; see schema.def. */                                    \
    struct gb_##table {
#define GB_COLUMN(table, name, type, sql, doc) GB_C_##type name;
#define GB_END(table, constraints)                                                                 \
    }                                                                                              \
    ;                                                                                              \
    struct gb_##table##_list {                                                                     \
        size_t n;                                                                                  \
        struct gb_##table *row;                                                                    \
    };                                                                                             \
    enum st_code gb_##table##_read(struct gradebook *book, struct gb_##table##_list *list,         \
                                   struct st_error *err, const char *tail, ...);                   \
    void gb_##table##_free(struct gb_##table##_list *list);                                        \
    enum st_code gb_##table##_put(struct gradebook *book, const struct gb_##table *row,            \
                                  struct st_error *err);
#include "grader/gradebook/schema.def"
#undef GB_TABLE
#undef GB_COLUMN
#undef GB_END
#undef GB_C_TEXT
#undef GB_C_INTEGER
#undef GB_C_REAL

/** @return the row of a milestone of a submission, or NULL. */
const struct gb_grade *gb_grade_of(const struct gb_grade_list *list, const char *submission,
                                   const char *milestone);
const struct gb_handin *gb_handin_of(const struct gb_handin_list *list, const char *submission,
                                     const char *milestone);

/** @return the id of the last inserted row, in a table with its own INTEGER id (a row that is put
 * with id 0 gets the next id). */
int64_t gb_last_id(const struct gradebook *book);

/** Sets @p value to a setting's value, malloc'd, or to NULL if it was never stored. */
enum st_code gb_setting_get(struct gradebook *book, const char *name, char **value,
                            struct st_error *err);

/** All rows of one grading. The attempt numbers in rows of check, inference, timing and artefact
 * may be unset: they are set to the new attempt's number. */
struct gb_graded {
    struct gb_attempt attempt;
    struct gb_check_result_list checks;
    struct gb_inference_list inferences;
    struct gb_timing_list timings;
    struct gb_artefact_list artefacts;
};

/** Stores a grading in one transaction: the attempt with all its rows, and the grade that is valid
 * from now on. Sets the attempt's id. Stores nothing if an attempt with this id exists. */
enum st_code gb_graded_store(struct gradebook *book, struct gb_graded *graded,
                             struct st_error *err);

/** Reads an attempt with all its rows. @return ST_NOT_FOUND if it does not exist. */
enum st_code gb_graded_read(struct gradebook *book, int64_t attempt, struct gb_graded *graded,
                            struct st_error *err);

/** Frees a grading's rows. */
void gb_graded_free(struct gb_graded *graded);

/** Writes the schema's tables as Markdown, for docs/gradebook.md. */
void gb_schema_print(FILE *out);
