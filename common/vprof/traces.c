/* nvprof's traces of the GPU and of the API. */
#include "trace/figures.h"
#include "base/csv.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tables_device(const struct tr_trace *trace, const struct tr_row *row, char *to, size_t room)
{
    snprintf(to, room, "%s (%d)", *trace->device ? trace->device : "Virtual GPU",
             row ? row->device : 0);
}

static int by_start(const void *a, const void *b)
{
    const struct tr_row *const *x = a, *const *y = b;
    if ((*x)->start_ns != (*y)->start_ns)
        return (*x)->start_ns < (*y)->start_ns ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

/* The rows of the API, or all others, by their start. */
static const struct tr_row **sorted(const struct tr_trace *trace, bool api, size_t *n)
{
    const struct tr_row **rows = calloc(trace->n + 1, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows && i < trace->n; i++)
        if ((trace->rows[i].kind == TR_API) == api)
            rows[(*n)++] = &trace->rows[i];
    if (rows)
        qsort(rows, *n, sizeof *rows, by_start);
    return rows;
}

/* What a GPU trace has in it: columns without any figure are left out, as by nvprof. */
struct shown {
    const struct tr_trace *trace;
    const struct tr_row **rows;
    size_t n;
    bool kernels, copies;
};

/* The memory at one end of a copy or fill; NULL: there is none. */
static const char *memory_of(const struct tr_row *row, bool source)
{
    static const char *const ends[TR_KINDS] = {
        [TR_COPY_HTOD] = "HD", [TR_COPY_DTOH] = "DH", [TR_COPY_DTOD] = "DD", [TR_COPY_HTOH] = "HH",
        [TR_COPY_PTOP] = "DD", [TR_COPY_HTOA] = "HA", [TR_COPY_ATOH] = "AH", [TR_COPY_DTOA] = "DA",
        [TR_COPY_ATOD] = "AD", [TR_COPY_ATOA] = "AA", [TR_MEMSET] = "D"};
    switch (ends[row->kind] ? ends[row->kind][source ? 0 : 1] : '\0') {
    case 'D':
        return "Device";
    case 'A':
        return "Array";
    case 'H':
        return strcmp(row->host_memory, "pinned") == 0    ? "Pinned"
               : strcmp(row->host_memory, "managed") == 0 ? "Managed"
                                                          : "Pageable";
    default:
        return NULL;
    }
}

static double rate_of(const struct tr_row *row)
{
    const uint64_t ns = row->end_ns - row->start_ns;
    return ns && row->bytes >= 0 ? row->bytes * 1e9 / (double)ns : 0;
}

struct gpu_units {
    struct figure_unit start, duration, fixed, dynamic, size, rate;
};

static struct gpu_units gpu_units(const struct shown *s)
{
    uint64_t start = 0, duration = 0;
    double fixed = 0, dynamic = 0, size = 0, rate = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct tr_row *r = s->rows[i];
#define LARGEST(to, value) to = (value) > to ? (value) : to
        LARGEST(start, r->start_ns);
        LARGEST(duration, r->end_ns - r->start_ns);
        LARGEST(fixed, r->static_shared_bytes);
        LARGEST(dynamic, r->dynamic_shared_bytes);
        LARGEST(size, r->bytes);
        LARGEST(rate, rate_of(r));
#undef LARGEST
    }
    return (struct gpu_units){figure_time_unit(start),  figure_time_unit(duration),
                              figure_bytes_unit(fixed), figure_bytes_unit(dynamic),
                              figure_bytes_unit(size),  figure_rate_unit(rate)};
}

static void text_row(FILE *out, const struct shown *s, const struct gpu_units *u,
                     const struct tr_row *row)
{
    char start[FIGURE_MAX], duration[FIGURE_MAX], a[FIGURE_MAX], b[FIGURE_MAX], grid[48], block[48];
    char device[160];
    const bool kernel = row->kind == TR_KERNEL;
    const int width = figure_time_width();
    figure_time_in(start, row->start_ns, u->start);
    figure_time_in(duration, row->end_ns - row->start_ns, u->duration);
    fprintf(out, "%*s  %*s", width, start, width, duration);
    if (s->kernels && kernel) {
        snprintf(grid, sizeof grid, "(%u %u %u)", row->grid[0], row->grid[1], row->grid[2]);
        snprintf(block, sizeof block, "(%u %u %u)", row->block[0], row->block[1], row->block[2]);
        figure_bytes(a, row->static_shared_bytes, 8);
        figure_bytes(b, row->dynamic_shared_bytes, 8);
        fprintf(out, "  %19s  %14s  %8d  %8s  %8s", grid, block, row->registers, a, b);
    } else if (s->kernels) {
        fprintf(out, "  %19s  %14s  %8s  %8s  %8s", "-", "-", "-", "-", "-");
    }
    if (s->copies && !kernel) {
        const char *to = memory_of(row, false);
        figure_bytes(a, row->bytes < 0 ? 0 : row->bytes, 8);
        figure_rate(b, rate_of(row), 10);
        fprintf(out, "  %8s  %10s  %10s  %10s", a, b, memory_of(row, true), to ? to : "-");
    } else if (s->copies) {
        fprintf(out, "  %8s  %10s  %10s  %10s", "-", "-", "-", "-");
    }
    tables_device(s->trace, row, device, sizeof device);
    fprintf(out, "  %15.15s  %8d  %8" PRIu64 "  %s", device, row->client > 0 ? row->client : 1,
            row->stream_number, row->name);
    if (kernel && row->correlation)
        fprintf(out, " [%" PRIu64 "]", row->correlation);
    fputc('\n', out);
}

static void gpu_text(FILE *out, const struct shown *s)
{
    const struct gpu_units u = gpu_units(s);
    const int width = figure_time_width();
    fprintf(out, "%*s  %*s", width, "Start", width, "Duration");
    if (s->kernels)
        fprintf(out, "  %19s  %14s  %8s  %8s  %8s", "Grid Size", "Block Size", "Regs*", "SSMem*",
                "DSMem*");
    if (s->copies)
        fprintf(out, "  %8s  %10s  %10s  %10s", "Size", "Throughput", "SrcMemType", "DstMemType");
    fprintf(out, "  %15s  %8s  %8s  %s\n", "Device", "Context", "Stream", "Name");
    for (size_t i = 0; i < s->n; i++)
        text_row(out, s, &u, s->rows[i]);
    if (s->kernels)
        fprintf(out, "\nRegs: Number of registers used per CUDA thread. This number includes "
                     "registers used internally by the CUDA driver and/or tools and can be more "
                     "than what the compiler shows.\n"
                     "SSMem: Static shared memory allocated per CUDA block.\n"
                     "DSMem: Dynamic shared memory allocated per CUDA block.\n");
    if (s->copies)
        fprintf(out,
                "%sSrcMemType: The type of source memory accessed by memory operation/copy\n"
                "DstMemType: The type of destination memory accessed by memory "
                "operation/copy\n",
                s->kernels ? "" : "\n");
}

static void csv_times(FILE *out, const struct tr_row *row, struct figure_unit start,
                      struct figure_unit duration)
{
    fprintf(out, "%.*f,%.*f", figure_csv_decimals(start), (double)row->start_ns / start.scale,
            figure_csv_decimals(duration), (double)(row->end_ns - row->start_ns) / duration.scale);
}

static void csv_row(FILE *out, const struct shown *s, const struct gpu_units *u,
                    const struct tr_row *row)
{
    const bool kernel = row->kind == TR_KERNEL;
    csv_times(out, row, u->start, u->duration);
    if (s->kernels && kernel)
        fprintf(out, ",%u,%u,%u,%u,%u,%u,%d,%.6f,%.6f", row->grid[0], row->grid[1], row->grid[2],
                row->block[0], row->block[1], row->block[2], row->registers,
                row->static_shared_bytes / u->fixed.scale,
                row->dynamic_shared_bytes / u->dynamic.scale);
    else if (s->kernels)
        fprintf(out, ",,,,,,,,,");
    if (s->copies && !kernel) {
        const char *to = memory_of(row, false);
        fprintf(out, ",%.6f,%.6f,\"%s\"", (row->bytes < 0 ? 0 : row->bytes) / u->size.scale,
                rate_of(row) / u->rate.scale, memory_of(row, true));
        fprintf(out, to ? ",\"%s\"" : ",", to);
    } else if (s->copies) {
        fprintf(out, ",,,,");
    }
    char device[160];
    tables_device(s->trace, row, device, sizeof device);
    fputc(',', out);
    csv_quote(out, device);
    fprintf(out, ",\"%d\",\"%" PRIu64 "\",", row->client > 0 ? row->client : 1, row->stream_number);
    csv_quote(out, row->name);
    fprintf(out, row->correlation ? ",%" PRIu64 "\n" : ",\n", row->correlation);
}

static void gpu_csv(FILE *out, const struct shown *s)
{
    const struct gpu_units u = gpu_units(s);
    fprintf(out, "\"Start\",\"Duration\"");
    if (s->kernels)
        fprintf(out, ",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\","
                     "\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\"");
    if (s->copies)
        fprintf(out, ",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\"");
    fprintf(out, ",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\n");
    fprintf(out, "%s,%s", u.start.name, u.duration.name);
    if (s->kernels)
        fprintf(out, ",,,,,,,,%s,%s", u.fixed.name, u.dynamic.name);
    if (s->copies)
        fprintf(out, ",%s,%s,,", u.size.name, u.rate.name);
    fprintf(out, ",,,,,\n");
    for (size_t i = 0; i < s->n; i++)
        csv_row(out, s, &u, s->rows[i]);
}

void tables_gpu_trace(FILE *out, const struct tr_trace *trace, bool csv)
{
    struct shown s = {.trace = trace};
    s.rows = sorted(trace, false, &s.n);
    for (size_t i = 0; s.rows && i < s.n; i++) {
        s.kernels = s.kernels || s.rows[i]->kind == TR_KERNEL;
        s.copies = s.copies || s.rows[i]->kind != TR_KERNEL;
    }
    if (s.n == 0)
        fprintf(out, "No kernels were profiled.\n");
    else if (csv)
        gpu_csv(out, &s);
    else
        gpu_text(out, &s);
    free(s.rows);
}

/* The kernel that a call launched. */
static const struct tr_row *launched(const struct tr_index *work, const struct tr_row *call)
{
    const struct tr_row *row = strstr(call->name, "Launch") ? tr_index_find(work, call) : NULL;
    return row && row->kind == TR_KERNEL ? row : NULL;
}

void tables_api_trace(FILE *out, const struct tr_trace *trace, bool csv)
{
    size_t n;
    const struct tr_row **rows = sorted(trace, true, &n);
    struct tr_index *work = tr_index_make(trace, false);
    uint64_t start = 0, duration = 0;
    for (size_t i = 0; i < n; i++) {
        start = rows[i]->start_ns > start ? rows[i]->start_ns : start;
        const uint64_t ns = rows[i]->end_ns - rows[i]->start_ns;
        duration = ns > duration ? ns : duration;
    }
    const struct figure_unit s = figure_time_unit(start), d = figure_time_unit(duration);
    const int width = figure_time_width();
    if (n == 0)
        fprintf(out, "No API activities were profiled.\n");
    else if (csv)
        fprintf(out, "\"Start\",\"Duration\",\"Name\",\"Correlation_ID\"\n%s,%s,,\n", s.name,
                d.name);
    else
        fprintf(out, "%*s  %*s  %s\n", width, "Start", width, "Duration", "Name");
    for (size_t i = 0; i < n; i++) {
        const struct tr_row *row = rows[i], *kernel = work ? launched(work, row) : NULL;
        const uint64_t ns = row->end_ns - row->start_ns;
        if (csv) {
            csv_times(out, row, s, d);
            fputc(',', out);
            csv_quote(out, row->name);
            fprintf(out, ",%" PRIu64 "\n", row->correlation);
            continue;
        }
        char begin[FIGURE_MAX], length[FIGURE_MAX];
        figure_time_in(begin, row->start_ns, s);
        figure_time_in(length, ns, d);
        fprintf(out, "%*s  %*s  %s", width, begin, width, length, row->name);
        if (kernel)
            fprintf(out, " (%s [%" PRIu64 "])", kernel->name, row->correlation);
        fputc('\n', out);
    }
    free(work);
    free(rows);
}
