#include "grader/class/slurm_files.h"

#include "base/files.h"
#include "base/tsv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cl_slurm_folder(const char *files, char folder[PATH_MAX])
{
    path_format(folder, PATH_MAX, "%s/slurm", files);
}

bool cl_slurm_path(const char *files, char path[PATH_MAX], const char *format, ...)
{
    char name[NAME_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return path_format(path, PATH_MAX, "%s/slurm/%s", files, name);
}

void cl_slurm_key(const struct cl_task *task, const char *flags, char key[CL_KEY_CHARS])
{
    struct sha256 hash;
    char hex[SHA256_HEX], numbers[64];
    snprintf(numbers, sizeof numbers, "%" PRId64 " %" PRIu64, task->number, task->seed);
    const char *const parts[] = {task->submission, task->milestone, task->source_hash, flags,
                                 numbers};
    sha256_begin(&hash);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sha256_add(&hash, parts[i], strlen(parts[i]) + 1);
    sha256_end_hex(&hash, hex);
    snprintf(key, CL_KEY_CHARS, "%.24s", hex);
}

/* ---- batches -------------------------------------------------------------------------------- */

static const char *const batch_header[] = {"key",     "submission", "milestone",
                                           "attempt", "seed",       "source"};
enum { BATCH_COLUMNS = sizeof batch_header / sizeof *batch_header };

enum st_code cl_batch_write(const char *files, size_t batch, const struct cl_task *tasks,
                            const size_t *which, size_t n, const char *flags, struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out out;
    if (!cl_slurm_path(files, path, "batch-%zu.tsv", batch))
        return path_too_long(files, err);
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    tsv_write_row(out.f, BATCH_COLUMNS, batch_header);
    for (size_t i = 0; i < n; i++) {
        const struct cl_task *task = &tasks[which[i]];
        char key[CL_KEY_CHARS], attempt[24], seed[24];
        cl_slurm_key(task, flags, key);
        snprintf(attempt, sizeof attempt, "%" PRId64, task->number);
        snprintf(seed, sizeof seed, "%" PRIu64, task->seed);
        tsv_write_row(out.f, BATCH_COLUMNS,
                      (const char *const[]){key, task->submission, task->milestone, attempt, seed,
                                            task->source});
    }
    return file_out_commit(&out, err);
}

static enum st_code read_batch(const char *path, struct tsv *table, struct st_error *err)
{
    enum st_code code = tsv_read(path, table, err);
    for (size_t i = 0; !code && i < BATCH_COLUMNS; i++)
        if (table->columns != BATCH_COLUMNS || strcmp(table->header[i], batch_header[i]) != 0) {
            code = st_fail(err, ST_BAD_FORMAT, "not a list of tasks");
            st_detail(err, ST_WHERE, "%s", path);
        }
    if (code)
        tsv_free(table);
    return code;
}

enum st_code cl_batch_read(const char *path, size_t number, struct cl_task *task,
                           char key[CL_KEY_CHARS], struct st_error *err)
{
    struct tsv table = {0};
    *task = (struct cl_task){0};
    enum st_code code = read_batch(path, &table, err);
    if (code)
        return code;
    if (number < 1 || number > table.rows) {
        tsv_free(&table);
        st_fail(err, ST_USAGE, "no such task");
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_GOT, "%zu", number);
    }
    snprintf(key, CL_KEY_CHARS, "%s", tsv_cell(&table, number - 1, 0));
    task->submission = strdup(tsv_cell(&table, number - 1, 1));
    task->milestone = strdup(tsv_cell(&table, number - 1, 2));
    task->number = strtoll(tsv_cell(&table, number - 1, 3), NULL, 10);
    task->seed = strtoull(tsv_cell(&table, number - 1, 4), NULL, 10);
    task->source = strdup(tsv_cell(&table, number - 1, 5));
    tsv_free(&table);
    return ST_OK;
}

enum st_code cl_batch_keys(const char *files, size_t batch, char (**keys)[CL_KEY_CHARS], size_t *n,
                           struct st_error *err)
{
    char path[PATH_MAX];
    struct tsv table = {0};
    *keys = NULL;
    *n = 0;
    cl_slurm_path(files, path, "batch-%zu.tsv", batch);
    enum st_code code = read_batch(path, &table, err);
    if (code)
        return code;
    *keys = calloc(table.rows + 1, sizeof **keys);
    if (!*keys)
        code = st_fail(err, ST_NO_MEMORY, "out of memory for a list of tasks");
    for (size_t i = 0; !code && i < table.rows; i++)
        snprintf((*keys)[i], CL_KEY_CHARS, "%s", tsv_cell(&table, i, 0));
    *n = code ? 0 : table.rows;
    tsv_free(&table);
    return code;
}

/* ---- outcomes ------------------------------------------------------------------------------- */

/* clang-format off */
/* The columns of an outcome except the last one: X(member, print format, scan format) */
#define OUTCOME_COLUMNS(X)               \
    X(status, "%d", atoi)                \
    X(signal, "%d", atoi)                \
    X(timed_out, "%d", atoi)             \
    X(out_of_memory, "%d", atoi)         \
    X(started, "%.6f", atof)             \
    X(finished, "%.6f", atof)            \
    X(cpu_s, "%.6f", atof)               \
    X(max_rss_kib, "%" PRId64, atoll)
/* clang-format on */

static const char *const outcome_header[] = {
#define NAME(member, format, read) #member,
    OUTCOME_COLUMNS(NAME) "said"
#undef NAME
};
enum { OUTCOME_FIELDS = sizeof outcome_header / sizeof *outcome_header };

enum st_code cl_outcome_write(const char *files, const char *key, const struct cl_outcome *o,
                              const char *said, struct st_error *err)
{
    char path[PATH_MAX];
    struct tsv_row row;
    struct file_out out;
    cl_slurm_path(files, path, "%s.outcome", key);
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    tsv_write_row(out.f, OUTCOME_FIELDS, outcome_header);
    tsv_row_start(&row, 0);
#define PRINT(member, format, read) tsv_row_add(&row, format, o->member);
    OUTCOME_COLUMNS(PRINT)
#undef PRINT
    tsv_row_add_text(&row, said);
    tsv_row_write(&row, out.f);
    return file_out_commit(&out, err);
}

enum st_code cl_outcome_read(const char *files, const char *key, struct cl_outcome *o,
                             char said[512], struct st_error *err)
{
    char path[PATH_MAX];
    struct tsv table = {0};
    int column = 0;
    cl_slurm_path(files, path, "%s.outcome", key);
    if (!file_exists(path))
        return st_fail(err, ST_NOT_FOUND, "the task has no outcome yet");
    enum st_code code = tsv_read(path, &table, err);
    if (!code && (table.rows != 1 || table.columns != OUTCOME_FIELDS)) {
        code = st_fail(err, ST_BAD_FORMAT, "not the outcome of a task");
        st_detail(err, ST_WHERE, "%s", path);
    }
    if (!code) {
#define READ(member, format, read) o->member = read(tsv_cell(&table, 0, column++));
        OUTCOME_COLUMNS(READ)
#undef READ
        snprintf(said, 512, "%s", tsv_cell(&table, 0, column));
    }
    tsv_free(&table);
    return code;
}

size_t cl_starts_read(const char *files, const char *key, char where[256])
{
    char path[PATH_MAX], *text;
    size_t bytes, n = 0, used = 0;
    *where = '\0';
    cl_slurm_path(files, path, "%s.starts", key);
    if (file_read(path, 1 << 20, &text, &bytes, NULL))
        return 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!*line)
            continue;
        int put = snprintf(where + used, 256 - used, "%s%.*s", n++ ? ", " : "",
                           (int)strcspn(line, " "), line);
        used = used + (size_t)put < 256 ? used + (size_t)put : 255;
    }
    free(text);
    return n;
}
