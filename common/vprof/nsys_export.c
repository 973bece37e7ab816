/* Writes a trace as nsys's SQLite database: nsys_schema.sql has the tables. The database is made in
 * memory and written to the file as a whole. */
#include "vprof/nsight.h"
#include "vprof/nsight_table.h"

#include "base/files.h"

#include <sqlite3.h>
#include <string.h>

extern const char nsys_schema_sql[];

#define NAME_BYTES_MAX 4096
#define LENGTH(a)      (sizeof(a) / sizeof *(a))
/* A column unknown to the trace. */
#define NOT_KNOWN INT64_MIN

/* nsys combines the numbers of a process and a thread. */
#define PROCESS_SHIFT 24

struct export
{
    sqlite3 *db;
    const struct tr_trace *trace;
    sqlite3_stmt *string, *find;
    int64_t strings, kernels;
};

/* CUPTI's numbers for the kinds of copies and of memory, which nsys uses. */
enum { PAGEABLE, PINNED, DEVICE, ARRAY, MANAGED };
static const struct {
    int number, from, to; /* HOST: the trace states the kind of memory */
} copies[TR_KINDS] = {
#define HOST -1
    [TR_COPY_HTOD] = {1, HOST, DEVICE},  [TR_COPY_DTOH] = {2, DEVICE, HOST},
    [TR_COPY_HTOA] = {3, HOST, ARRAY},   [TR_COPY_ATOH] = {4, ARRAY, HOST},
    [TR_COPY_ATOA] = {5, ARRAY, ARRAY},  [TR_COPY_ATOD] = {6, ARRAY, DEVICE},
    [TR_COPY_DTOA] = {7, DEVICE, ARRAY}, [TR_COPY_DTOD] = {8, DEVICE, DEVICE},
    [TR_COPY_HTOH] = {9, HOST, HOST},    [TR_COPY_PTOP] = {10, DEVICE, DEVICE}};

/* ---- the database --------------------------------------------------------------------------- */

static bool run(struct export *e, const char *sql)
{
    return sqlite3_exec(e->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Binds numbers to a statement and runs it. */
static bool insert(sqlite3_stmt *statement, const int64_t *number, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good = good && (number[i] == NOT_KNOWN
                            ? sqlite3_bind_null(statement, (int)i + 1)
                            : sqlite3_bind_int64(statement, (int)i + 1, number[i])) == SQLITE_OK;
    good = good && sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_reset(statement) == SQLITE_OK && good;
}

/* @return "INSERT INTO table VALUES (?, ...)", prepared; NULL on failure */
static sqlite3_stmt *inserter(struct export *e, const char *table, size_t columns)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_str *sql = sqlite3_str_new(e->db);
    sqlite3_str_appendf(sql, "INSERT INTO %s VALUES (?", table);
    while (--columns)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    if (text)
        sqlite3_prepare_v2(e->db, text, -1, &statement, NULL);
    sqlite3_free(text);
    return statement;
}

/* @return the number of a string, which is added if it is new; 0 on failure */
static int64_t string_id(struct export *e, const char *text)
{
    int64_t id = 0;
    sqlite3_bind_text(e->find, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(e->find) == SQLITE_ROW)
        id = sqlite3_column_int64(e->find, 0);
    sqlite3_reset(e->find);
    if (id)
        return id;
    sqlite3_bind_int64(e->string, 1, ++e->strings);
    sqlite3_bind_text(e->string, 2, text, -1, SQLITE_STATIC);
    const bool good = sqlite3_step(e->string) == SQLITE_DONE;
    sqlite3_reset(e->string);
    return good ? e->strings : 0;
}

/* ---- facts ---------------------------------------------------------------------------------- */

static bool add_labels(struct export *e)
{
    return run(e, "INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES"
                  " (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),"
                  " (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver');"
                  "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES"
                  " (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),"
                  " (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),"
                  " (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),"
                  " (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),"
                  " (4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'),"
                  " (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),"
                  " (6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'),"
                  " (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),"
                  " (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),"
                  " (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),"
                  " (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer');"
                  "INSERT INTO ENUM_CUDA_MEM_KIND VALUES"
                  " (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),"
                  " (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),"
                  " (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),"
                  " (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),"
                  " (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed');"
                  "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_NAME', 'ConvLab vprof')");
}

/* A real GPU's figures come from the driver, a virtual GPU's from its profile. */
static int64_t figure(const struct tr_trace *t, const char *limit, double scale, double profile)
{
    const double said = scale * tr_limit(t, limit), value = said > 0 ? said : profile;
    return value > 0 ? (int64_t)value : NOT_KNOWN;
}

static bool add_gpu(struct export *e, const struct vg_profile *g)
{
    static const struct vg_profile none;
    const struct tr_trace *t = e->trace;
    const struct vg_profile *p = g ? g : &none;
    const int64_t capability =
        figure(t, "compute_capability", 1, 10 * p->compute_major + p->compute_minor);
    const double bus = 2 * p->memory_clock_hz * p->memory_bus_bits / 8;
    const struct {
        const char *column;
        int64_t value;
    } columns[] = {
        {"l2CacheSize", figure(t, "l2_bytes", 1, (double)p->l2_bytes)},
        {"totalMemory", figure(t, "memory_bytes", 1, (double)p->global_bytes)},
        {"memoryBandwidth", figure(t, "memory_kbyte_per_s", 1000, bus)},
        {"clockRate", figure(t, "clock_khz", 1000, p->clock_hz)},
        {"smCount", figure(t, "multiprocessors", 1, p->multiprocessors)},
        {"maxRegistersPerBlock", figure(t, "registers_per_block", 1, p->registers_per_block)},
        {"maxShmemPerSm", figure(t, "shared_per_multiprocessor_bytes", 1,
                                 (double)p->shared_per_multiprocessor_bytes)},
        {"maxRegistersPerSm",
         figure(t, "registers_per_multiprocessor", 1, p->registers_per_multiprocessor)},
        {"maxWarpsPerSm",
         figure(t, "warps_per_multiprocessor", 1, p->max_threads_per_multiprocessor / 32)},
        {"maxBlocksPerSm",
         figure(t, "blocks_per_multiprocessor", 1, p->max_blocks_per_multiprocessor)},
        {"maxThreadsPerBlock", figure(t, "threads_per_block", 1, p->max_threads_per_block)},
        {"threadsPerWarp", 32},
        {"computeMajor", capability == NOT_KNOWN ? NOT_KNOWN : capability / 10},
        {"computeMinor", capability == NOT_KNOWN ? NOT_KNOWN : capability % 10}};
    sqlite3_str *sql = sqlite3_str_new(e->db);
    sqlite3_str_appendf(sql, "INSERT INTO TARGET_INFO_GPU (vmId, id, name) VALUES (0, 0, %Q);",
                        *t->device ? t->device : NULL);
    for (size_t i = 0; i < LENGTH(columns); i++)
        if (columns[i].value != NOT_KNOWN)
            sqlite3_str_appendf(sql, "UPDATE TARGET_INFO_GPU SET %s = %lld;", columns[i].column,
                                (long long)columns[i].value);
    char *text = sqlite3_str_finish(sql);
    const bool good = text && run(e, text);
    sqlite3_free(text);
    return good;
}

static bool add_span(struct export *e)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < e->trace->n; i++) {
        const struct tr_row *row = &e->trace->rows[i];
        first = row->start_ns < first ? row->start_ns : first;
        last = row->end_ns > last ? row->end_ns : last;
    }
    first = first < last ? first : last;
    sqlite3_stmt *statement = inserter(e, "ANALYSIS_DETAILS", 4);
    const int64_t numbers[] = {0, (int64_t)(last - first), (int64_t)first, (int64_t)last};
    const bool good = statement && insert(statement, numbers, LENGTH(numbers));
    sqlite3_finalize(statement);
    return good;
}

/* The first thread has the program's name. */
static bool add_thread(struct export *e)
{
    const struct tr_trace *t = e->trace;
    char program[256];
    const size_t n = strcspn(t->command, " ");
    size_t start = n;
    while (start > 0 && t->command[start - 1] != '/')
        start--;
    snprintf(program, sizeof program, "%.*s", (int)(n - start), t->command + start);
    sqlite3_stmt *statement = inserter(e, "ThreadNames", 3);
    const int64_t pid = t->pid > 0 ? t->pid : 1;
    const int64_t numbers[] = {string_id(e, program), NOT_KNOWN, pid << PROCESS_SHIFT | pid};
    const bool good = statement && insert(statement, numbers, LENGTH(numbers));
    sqlite3_finalize(statement);
    return good;
}

/* ---- activities ----------------------------------------------------------------------------- */

static int64_t process_of(const struct export *e, const struct tr_row *row)
{
    return row->client <= 1 && e->trace->pid > 0 ? e->trace->pid : tr_context(row);
}

static int64_t correlation_of(const struct tr_row *row)
{
    return row->correlation ? (int64_t)row->correlation : NOT_KNOWN;
}

static bool add_call(struct export *e, sqlite3_stmt *statement, const struct tr_row *row)
{
    const int64_t process = process_of(e, row),
                  thread = row->thread ? (int64_t)(row->thread & 0xffffff) : process;
    const bool driver = row->name[0] == 'c' && row->name[1] == 'u' && row->name[2] != 'd';
    const int64_t numbers[] = {(int64_t)row->start_ns,
                               (int64_t)row->end_ns,
                               driver,
                               process << PROCESS_SHIFT | thread,
                               correlation_of(row),
                               string_id(e, row->name),
                               row->error,
                               NOT_KNOWN};
    return insert(statement, numbers, LENGTH(numbers));
}

/* The first columns of each table of GPU activities. */
#define ON_STREAM(e, row)                                                                          \
    (int64_t)(row)->start_ns, (int64_t)(row)->end_ns, (row)->device, tr_context(row), NOT_KNOWN,   \
        (int64_t)(row)->stream_number, correlation_of(row), process_of(e, row) << PROCESS_SHIFT

static bool add_kernel(struct export *e, sqlite3_stmt *statement, const struct tr_row *row)
{
    char name[NAME_BYTES_MAX], base[NAME_BYTES_MAX];
    nsight_name(name, sizeof name, row->name);
    nsight_short_name(base, sizeof base, row->name);
    const int64_t numbers[] = {ON_STREAM(e, row),
                               string_id(e, name),
                               string_id(e, base),
                               *row->symbol ? string_id(e, row->symbol) : NOT_KNOWN,
                               NOT_KNOWN, /* the launch type */
                               NOT_KNOWN, /* the cache setting */
                               row->registers,
                               row->grid[0],
                               row->grid[1],
                               row->grid[2],
                               row->block[0],
                               row->block[1],
                               row->block[2],
                               (int64_t)row->static_shared_bytes,
                               (int64_t)row->dynamic_shared_bytes,
                               0, /* a trace has no local memory, but the columns are NOT NULL */
                               0,
                               ++e->kernels,
                               row->shared_config_bytes > 0 ? (int64_t)row->shared_config_bytes
                                                            : NOT_KNOWN,
                               NOT_KNOWN,
                               NOT_KNOWN};
    return insert(statement, numbers, LENGTH(numbers));
}

static int64_t memory_of(const struct tr_row *row, int end)
{
    static const struct {
        const char *name;
        int number;
    } host[] = {{"pageable", PAGEABLE}, {"pinned", PINNED}, {"managed", MANAGED}};
    for (size_t i = 0; end == HOST && i < LENGTH(host); i++)
        if (strcmp(row->host_memory, host[i].name) == 0)
            return host[i].number;
    return end == HOST ? NOT_KNOWN : end;
}

static bool add_copy(struct export *e, sqlite3_stmt *statement, const struct tr_row *row)
{
    int64_t numbers[20] = {ON_STREAM(e, row),
                           row->bytes > 0 ? (int64_t)row->bytes : 0,
                           copies[row->kind].number,
                           NOT_KNOWN,
                           memory_of(row, copies[row->kind].from),
                           memory_of(row, copies[row->kind].to)};
    for (size_t i = 13; i < LENGTH(numbers); i++)
        numbers[i] = NOT_KNOWN;
    return insert(statement, numbers, LENGTH(numbers));
}

/* Adds a fill; a trace does not have its value. */
static bool add_fill(struct export *e, sqlite3_stmt *statement, const struct tr_row *row)
{
    const int64_t numbers[] = {ON_STREAM(e, row), 0, row->bytes > 0 ? (int64_t)row->bytes : 0,
                               NOT_KNOWN, DEVICE};
    return insert(statement, numbers, LENGTH(numbers));
}

static bool is_outer_call(const struct tr_row *row)
{
    return row->kind == TR_API && !row->nested;
}

static bool is_copy(const struct tr_row *row)
{
    return copies[row->kind].number > 0;
}

static bool is_fill(const struct tr_row *row)
{
    return row->kind == TR_MEMSET;
}

/* Like nsys, omits empty tables. */
static bool add_activities(struct export *e)
{
    static const struct {
        const char *name, *drop;
        size_t columns;
        bool (*has)(const struct tr_row *);
        bool (*add)(struct export *, sqlite3_stmt *, const struct tr_row *);
    } tables[] = {
#define TABLE(name, columns, has, add) {name, "DROP TABLE " name, columns, has, add}
        TABLE("CUPTI_ACTIVITY_KIND_RUNTIME", 8, is_outer_call, add_call),
        TABLE("CUPTI_ACTIVITY_KIND_KERNEL", 28, tr_is_kernel, add_kernel),
        TABLE("CUPTI_ACTIVITY_KIND_MEMCPY", 20, is_copy, add_copy),
        TABLE("CUPTI_ACTIVITY_KIND_MEMSET", 12, is_fill, add_fill)};
#undef TABLE
    bool good = true;
    for (size_t k = 0; good && k < LENGTH(tables); k++) {
        size_t rows = 0;
        sqlite3_stmt *statement = inserter(e, tables[k].name, tables[k].columns);
        good = statement != NULL;
        for (size_t i = 0; good && i < e->trace->n; i++) {
            const struct tr_row *row = &e->trace->rows[i];
            if (!tables[k].has(row))
                continue;
            good = tables[k].add(e, statement, row);
            rows++;
        }
        sqlite3_finalize(statement);
        good = good && (rows || run(e, tables[k].drop));
    }
    return good;
}

/* Finds strings through an index, and then removes the index, because nsys's database has none. */
static bool fill(struct export *e, const struct vg_profile *gpu)
{
    bool good =
        run(e, nsys_schema_sql) && run(e, "BEGIN; CREATE INDEX strings ON StringIds (value)");
    e->string = good ? inserter(e, "StringIds", 2) : NULL;
    good = e->string && !sqlite3_prepare_v2(e->db, "SELECT id FROM StringIds WHERE value = ?", -1,
                                            &e->find, NULL);
    good = good && add_labels(e) && add_gpu(e, gpu) && add_span(e) && add_thread(e) &&
           add_activities(e);
    sqlite3_finalize(e->string);
    sqlite3_finalize(e->find);
    return good && run(e, "DROP INDEX strings; COMMIT; VACUUM");
}

enum st_code nsys_export(const struct tr_trace *trace, const struct vg_profile *gpu,
                         const char *path, struct st_error *err)
{
    struct export e = {.trace = trace};
    sqlite3_int64 bytes = 0;
    unsigned char *data = NULL;
    enum st_code code = ST_OK;
    const bool good = sqlite3_open(":memory:", &e.db) == SQLITE_OK && fill(&e, gpu);
    if (!good)
        code = st_fail(err, ST_IO, "SQLite cannot create the database: %s",
                       e.db ? sqlite3_errmsg(e.db) : "out of memory");
    else if (!(data = sqlite3_serialize(e.db, "main", &bytes, 0)))
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the database");
    if (!code)
        code = file_write(path, (const char *)data, (size_t)bytes, err);
    else
        st_detail(err, ST_WHERE, "%s", path);
    sqlite3_free(data);
    sqlite3_close(e.db);
    return code;
}
