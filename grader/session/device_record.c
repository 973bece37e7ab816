#include "grader/session/device_record.h"

#include "nn/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trace_columns[] = {"kind",
                                            "name",
                                            "client",
                                            "stream",
                                            "start_ns",
                                            "end_ns",
                                            "bytes",
                                            "grid",
                                            "block",
                                            "registers",
                                            "static_shared_bytes",
                                            "dynamic_shared_bytes",
                                            "occupancy",
                                            "limiter",
                                            "error"};
enum {
    KIND,
    NAME,
    CLIENT,
    STREAM,
    START,
    END,
    BYTES,
    GRID,
    BLOCK,
    REGISTERS,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    OCCUPANCY,
    LIMITER,
    ERROR,
    COLUMNS
};

static void sizes_parse(uint32_t to[3], const char *text)
{
    if (sscanf(text, "%ux%ux%u", &to[0], &to[1], &to[2]) != 3)
        memset(to, 0, 3 * sizeof *to);
}

static enum st_code rows_parse(struct gr_device_record *r, struct st_error *err)
{
    int column[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = tsv_column(&r->trace, trace_columns[i]);
        if (column[i] < 0)
            return st_fail(err, ST_BAD_FORMAT, "the virtual GPU's trace has no column %s",
                           trace_columns[i]);
    }
    r->row = calloc(r->trace.rows + 1, sizeof *r->row);
    if (!r->row)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the virtual GPU's trace");
    r->rows = r->trace.rows;
    for (size_t i = 0; i < r->rows; i++) {
        const char *cell[COLUMNS];
        for (int k = 0; k < COLUMNS; k++)
            cell[k] = tsv_cell(&r->trace, i, column[k]);
        struct gr_device_row *row = &r->row[i];
        *row =
            (struct gr_device_row){.kind = cell[KIND],
                                   .name = cell[NAME],
                                   .client = atoi(cell[CLIENT]),
                                   .stream = strtoull(cell[STREAM], NULL, 10),
                                   .start_ns = strtod(cell[START], NULL),
                                   .end_ns = strtod(cell[END], NULL),
                                   .bytes = strtod(cell[BYTES], NULL),
                                   .registers = atoi(cell[REGISTERS]),
                                   .static_shared_bytes = strtoul(cell[STATIC_SHARED], NULL, 10),
                                   .dynamic_shared_bytes = strtoul(cell[DYNAMIC_SHARED], NULL, 10),
                                   .occupancy = strtod(cell[OCCUPANCY], NULL),
                                   .limiter = cell[LIMITER],
                                   .error = atoi(cell[ERROR])};
        sizes_parse(row->grid, cell[GRID]);
        sizes_parse(row->block, cell[BLOCK]);
    }
    return ST_OK;
}

/* A table takes ownership of its text. */
static enum st_code table_parse(char **text, size_t bytes, struct tsv *table, struct st_error *err)
{
    char *taken = *text;
    *text = NULL;
    return tsv_parse(taken, bytes, "the virtual GPU's records", table, err);
}

enum st_code gr_device_record_parse(struct gr_device_record *r, struct vg_process_record *texts,
                                    struct st_error *err)
{
    memset(r, 0, sizeof *r);
    r->lost = texts->lost;
    enum st_code code = table_parse(&texts->trace, texts->trace_bytes, &r->trace, err);
    if (!code)
        code = table_parse(&texts->faults, texts->faults_bytes, &r->findings, err);
    if (!code)
        code = table_parse(&texts->counters, texts->counters_bytes, &r->counters, err);
    if (!code)
        code = table_parse(&texts->work, texts->work_bytes, &r->work, err);
    if (!code)
        code = table_parse(&texts->proof, texts->proof_bytes, &r->proof, err);
    if (!code)
        code = rows_parse(r, err);
    vg_process_record_free(texts);
    if (code)
        gr_device_record_free(r);
    return code;
}

void gr_device_record_free(struct gr_device_record *r)
{
    free(r->row);
    tsv_free(&r->trace);
    tsv_free(&r->findings);
    tsv_free(&r->counters);
    tsv_free(&r->work);
    tsv_free(&r->proof);
    memset(r, 0, sizeof *r);
}

unsigned long long gr_device_counter(const struct gr_device_record *r, const char *kernel,
                                     const char *column)
{
    unsigned long long sum = 0;
    int name = tsv_column(&r->counters, "kernel"), file = tsv_column(&r->counters, "file"),
        line = tsv_column(&r->counters, "line"), wanted = tsv_column(&r->counters, column);
    if (name < 0 || file < 0 || line < 0 || wanted < 0)
        return 0;
    for (size_t i = 0; i < r->counters.rows; i++) {
        if (tsv_cell(&r->counters, i, file)[0] == '\0' &&
            strcmp(tsv_cell(&r->counters, i, line), "0") == 0 &&
            (!kernel || strcmp(tsv_cell(&r->counters, i, name), kernel) == 0))
            sum += strtoull(tsv_cell(&r->counters, i, wanted), NULL, 10);
    }
    return sum;
}

/* ---- Op Time ------------------------------------------------------------------------------------
 *
 * gpu_conv() of the runner uploads x, k and y, records an event, calls the lab, synchronises,
 * records an event, and downloads all three:
 *
 *     copy copy copy  EventRecord  ...the lab...  EventRecord  copy copy copy
 *
 * Its copies are the first three and the last three; its events are the first one after the uploads
 * and the last one before the downloads.
 */

/* Finds the @p n-th row of a kind and client, from the front or (forward false) from the back.
 * @return the row's index, or the number of rows. */
static size_t nth(const struct gr_device_record *r, int client, const char *kind, size_t n,
                  bool forward)
{
    for (size_t k = 0; k < r->rows; k++) {
        size_t i = forward ? k : r->rows - 1 - k;
        if (r->row[i].client == client && strcmp(r->row[i].kind, kind) == 0 && n-- == 0)
            return i;
    }
    return r->rows;
}

static bool is_event_record(const struct gr_device_row *row, int client)
{
    return row->client == client && strcmp(row->kind, "api") == 0 &&
           strcmp(row->name, "cudaEventRecord") == 0;
}

/* The time from one event to the other, plus all other work on the device outside them.
 * @param upload, download  the harness's copies; NULL: none */
static double time_between(const struct gr_device_record *r, size_t begin, size_t end,
                           const size_t upload[3], const size_t download[3])
{
    const int client = r->row[begin].client;
    double until_ns = r->row[end].end_ns, outside_ns = 0;
    for (size_t i = 0; i < r->rows; i++) {
        const struct gr_device_row *row = &r->row[i];
        bool own = false;
        for (size_t k = 0; upload && k < 3; k++)
            own = own || i == upload[k] || i == download[k];
        if (own || strcmp(row->kind, "api") == 0)
            continue;
        if (row->client != client || i < begin || i > end)
            outside_ns += row->end_ns - row->start_ns;
        else if (row->end_ns > until_ns)
            until_ns = row->end_ns;
    }
    return (until_ns - r->row[begin].end_ns + outside_ns) * 1e-9;
}

bool gr_device_op_time(const struct gr_device_record *r, const struct conv_shape *shape,
                       double *op_time_s)
{
    const double tensor_bytes[3] = {4.0 * (double)nn_conv_x_elems(shape),
                                    4.0 * (double)nn_conv_k_elems(shape),
                                    4.0 * (double)nn_conv_y_elems(shape)};
    size_t first = 0;
    while (first < r->rows && strcmp(r->row[first].kind, "copy_htod") != 0)
        first++;
    if (first == r->rows || r->lost)
        return false;
    const int client = r->row[first].client;
    size_t upload[3], download[3];
    for (size_t i = 0; i < 3; i++) {
        upload[i] = nth(r, client, "copy_htod", i, true);
        download[i] = nth(r, client, "copy_dtoh", 2 - i, false);
        if (upload[i] == r->rows || download[i] == r->rows ||
            r->row[upload[i]].bytes != tensor_bytes[i] ||
            r->row[download[i]].bytes != tensor_bytes[i])
            return false;
    }
    size_t begin = upload[2], end = download[0];
    while (begin < end && !is_event_record(&r->row[begin], client))
        begin++;
    while (end > begin && !is_event_record(&r->row[end], client))
        end--;
    if (begin >= end)
        return false;
    *op_time_s = time_between(r, begin, end, upload, download);
    return true;
}

/* The harness connects before the lab is loaded, so its connection is the first. */
static int first_client(const struct gr_device_record *r)
{
    int client = r->rows ? r->row[0].client : 0;
    for (size_t i = 1; i < r->rows; i++)
        client = r->row[i].client < client ? r->row[i].client : client;
    return client;
}

bool gr_device_layer_time(const struct gr_device_record *r, double *layer_time_s)
{
    const int client = first_client(r);
    size_t begin = 0, end = r->rows;
    while (begin < end && !is_event_record(&r->row[begin], client))
        begin++;
    while (end > begin && !is_event_record(&r->row[end - 1], client))
        end--;
    if (r->lost || end < begin + 2)
        return false;
    *layer_time_s = time_between(r, begin, end - 1, NULL, NULL);
    return true;
}

/* ---- copies beside kernels -----------------------------------------------------------------------
 *
 *     in      |====|====|====|                 a copy overlaps where a kernel runs,
 *     kernel       |====|====|====|            or a copy in the other direction
 *     out               |====|====|====|
 */

enum { TO_DEVICE, TO_HOST, KERNEL_RUNS, OVERLAPPING };

static int overlapping(const struct gr_device_row *row)
{
    return strcmp(row->kind, "copy_htod") == 0   ? TO_DEVICE
           : strcmp(row->kind, "copy_dtoh") == 0 ? TO_HOST
           : strcmp(row->kind, "kernel") == 0    ? KERNEL_RUNS
                                                 : OVERLAPPING;
}

struct edge {
    double ns;
    int what, step; /* 1: begins, -1: ends */
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *p = a, *q = b;
    return p->ns != q->ns ? (p->ns > q->ns) - (p->ns < q->ns) : p->step - q->step;
}

/* @return the numbers that a kernel (NULL: all kernels) computes or loads. */
static double work_of(const struct gr_device_record *r, const char *kernel)
{
    static const char *const all[] = {"fp32_fma", "fp64_ops", "fp16_ops", "class_tensor"};
    double work = (double)gr_device_counter(r, kernel, "global_load_bytes") / sizeof(float);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        work += (double)gr_device_counter(r, kernel, all[i]);
    return work;
}

/* @return whether a kernel does something with what was copied: it works on at least a tenth as many
 * numbers, and does a part of the whole work. A kernel that only passes the time does not. */
static bool is_at_work(const struct gr_device_record *r, const char *kernel, double in_bytes)
{
    const double part = 0.03;
    return work_of(r, kernel) >= fmax(0.1 * in_bytes / sizeof(float), part * work_of(r, NULL));
}

bool gr_device_copies(const struct gr_device_record *r, struct gr_copies *to)
{
    struct edge *edge = malloc((2 * r->rows + 1) * sizeof *edge);
    size_t edges = 0;
    int running[OVERLAPPING] = {0};
    *to = (struct gr_copies){0};
    for (size_t i = 0; i < r->rows; i++) {
        const int what = overlapping(&r->row[i]);
        to->in_bytes += what == TO_DEVICE ? r->row[i].bytes : 0;
        to->out_bytes += what == TO_HOST ? r->row[i].bytes : 0;
    }
    for (size_t i = 0; edge && i < r->rows; i++) {
        const struct gr_device_row *row = &r->row[i];
        const int what = overlapping(row);
        if (what == OVERLAPPING || (what == KERNEL_RUNS && !is_at_work(r, row->name, to->in_bytes)))
            continue;
        edge[edges++] = (struct edge){row->start_ns, what, 1};
        edge[edges++] = (struct edge){row->end_ns, what, -1};
    }
    if (edges)
        qsort(edge, edges, sizeof *edge, compare_edges);
    for (size_t i = 0; i + 1 < edges; i++) {
        running[edge[i].what] += edge[i].step;
        const double ns = edge[i + 1].ns - edge[i].ns;
        const bool kernel = running[KERNEL_RUNS] > 0, in = running[TO_DEVICE] > 0,
                   out = running[TO_HOST] > 0;
        to->kernel_ns += kernel ? ns : 0;
        to->copy_ns += ns * (in + out);
        to->crossing_ns += in && out && !kernel ? ns : 0;
        to->overlapped_ns += (in && (kernel || out) ? ns : 0) + (out && (kernel || in) ? ns : 0);
    }
    const bool good = edge != NULL;
    free(edge);
    return good;
}
