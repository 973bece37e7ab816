/* nvprof's traces of the GPU and of the API. */
#include "trace/figures.h"
#include "trace/trace_cells.h"
#include "vprof/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tables_device(const struct tr_trace *trace, const struct tr_row *row, char *to, size_t room)
{
    snprintf(to, room, "%s (%d)", *trace->device ? trace->device : "Virtual GPU",
             row ? row->device : 0);
}

#define LARGEST(to, value) to = (value) > to ? (value) : to

/* The columns of a GPU trace to show: like nvprof, omits columns without any figure. */
struct shown {
    const struct tr_trace *trace;
    const struct tr_row **rows;
    size_t n;
    bool kernels, copies;
};

/* The memory at one end of a copy or fill; NULL: none. */
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
    const uint64_t ns = tr_ns(row);
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
        LARGEST(start, r->start_ns);
        LARGEST(duration, tr_ns(r));
        LARGEST(fixed, r->static_shared_bytes);
        LARGEST(dynamic, r->dynamic_shared_bytes);
        LARGEST(size, r->bytes);
        LARGEST(rate, rate_of(r));
    }
    return (struct gpu_units){figure_time_unit(start),  figure_time_unit(duration),
                              figure_bytes_unit(fixed), figure_bytes_unit(dynamic),
                              figure_bytes_unit(size),  figure_rate_unit(rate)};
}

enum { NUMBER = 8, GRID = 19, BLOCK = 14, RATE = 10, DEVICE = 15 };

static void put_size(struct cells *c, int width, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "(%u %u %u)", size[0], size[1], size[2]);
    if (!c->csv)
        cell(c, width, "%s", text);
    for (int i = 0; c->csv && i < 3; i++)
        cell(c, 0, "%u", size[i]);
}

static void put_bytes(struct cells *c, double bytes, struct figure_unit column)
{
    char text[FIGURE_MAX];
    figure_bytes(text, bytes, NUMBER);
    if (c->csv)
        cell(c, 0, "%.6f", bytes / column.scale);
    else
        cell(c, NUMBER, "%s", text);
}

static void put_rate(struct cells *c, double rate, struct figure_unit column)
{
    char text[FIGURE_MAX];
    figure_rate(text, rate, RATE);
    if (c->csv)
        cell(c, 0, "%.6f", rate / column.scale);
    else
        cell(c, RATE, "%s", text);
}

static void put_launch(struct cells *c, const struct gpu_units *u, const struct tr_row *row)
{
    static const int widths[] = {GRID, BLOCK, NUMBER, NUMBER, NUMBER, 0};
    if (row->kind != TR_KERNEL) {
        cells_empty(c, widths, 9);
        return;
    }
    put_size(c, GRID, row->grid);
    put_size(c, BLOCK, row->block);
    cell(c, NUMBER, "%d", row->registers);
    put_bytes(c, row->static_shared_bytes, u->fixed);
    put_bytes(c, row->dynamic_shared_bytes, u->dynamic);
}

static void put_copy(struct cells *c, const struct gpu_units *u, const struct tr_row *row)
{
    static const int widths[] = {NUMBER, RATE, RATE, RATE, 0};
    if (row->kind == TR_KERNEL) {
        cells_empty(c, widths, 4);
        return;
    }
    const char *to = memory_of(row, false);
    put_bytes(c, row->bytes < 0 ? 0 : row->bytes, u->size);
    put_rate(c, rate_of(row), u->rate);
    cell_named(c, RATE, "%s", memory_of(row, true));
    if (to)
        cell_named(c, RATE, "%s", to);
    else
        cells_empty(c, widths + 3, 1);
}

static void print_row(struct cells *c, const struct shown *s, const struct gpu_units *u,
                      const struct tr_row *row)
{
    char device[160];
    cell_time(c, row->start_ns, u->start);
    cell_time(c, tr_ns(row), u->duration);
    if (s->kernels)
        put_launch(c, u, row);
    if (s->copies)
        put_copy(c, u, row);
    tables_device(s->trace, row, device, sizeof device);
    cell_named(c, DEVICE, c->csv ? "%s" : "%.15s", device);
    cell_named(c, NUMBER, "%d", tr_context(row));
    cell_named(c, NUMBER, "%" PRIu64, row->stream_number);
    cell_named(c, 0, "%s", row->name);
    if (c->csv)
        cell_if(c, row->correlation, 0, "%" PRIu64, row->correlation);
    else if (row->kind == TR_KERNEL && row->correlation)
        fprintf(c->out, " [%" PRIu64 "]", row->correlation);
    cells_end(c);
}

static void text_header(FILE *out, const struct shown *s)
{
    const int width = figure_time_width();
    fprintf(out, "%*s  %*s", width, "Start", width, "Duration");
    if (s->kernels)
        fprintf(out, "  %19s  %14s  %8s  %8s  %8s", "Grid Size", "Block Size", "Regs*", "SSMem*",
                "DSMem*");
    if (s->copies)
        fprintf(out, "  %8s  %10s  %10s  %10s", "Size", "Throughput", "SrcMemType", "DstMemType");
    fprintf(out, "  %15s  %8s  %8s  %s\n", "Device", "Context", "Stream", "Name");
}

static void text_footer(FILE *out, const struct shown *s)
{
    if (s->kernels)
        fputs(
            "\nRegs: Number of registers used per CUDA thread. This number includes registers used internally by "
            "the CUDA driver and/or tools and can be more than what the compiler shows.\n"
            "SSMem: Static shared memory allocated per CUDA block.\n"
            "DSMem: Dynamic shared memory allocated per CUDA block.\n",
            out);
    if (s->copies)
        fprintf(out,
                "%sSrcMemType: The type of source memory accessed by memory operation/copy\n"
                "DstMemType: The type of destination memory accessed by memory operation/copy\n",
                s->kernels ? "" : "\n");
}

static void csv_header(FILE *out, const struct shown *s, const struct gpu_units *u)
{
    fprintf(out, "\"Start\",\"Duration\"");
    if (s->kernels)
        fprintf(out, ",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\","
                     "\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\"");
    if (s->copies)
        fprintf(out, ",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\"");
    fprintf(out, ",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\n");
    fprintf(out, "%s,%s", u->start.name, u->duration.name);
    if (s->kernels)
        fprintf(out, ",,,,,,,,%s,%s", u->fixed.name, u->dynamic.name);
    if (s->copies)
        fprintf(out, ",%s,%s,,", u->size.name, u->rate.name);
    fprintf(out, ",,,,,\n");
}

void tables_gpu_trace(FILE *out, const struct tr_trace *trace, bool csv)
{
    struct shown s = {.trace = trace};
    struct cells c = {.out = out, .csv = csv};
    s.rows = tr_select(trace, tr_is_work, tr_by_start, &s.n);
    for (size_t i = 0; i < s.n; i++) {
        s.kernels = s.kernels || s.rows[i]->kind == TR_KERNEL;
        s.copies = s.copies || s.rows[i]->kind != TR_KERNEL;
    }
    const struct gpu_units units = gpu_units(&s);
    if (s.n == 0)
        fprintf(out, "No kernels were profiled.\n");
    else if (csv)
        csv_header(out, &s, &units);
    else
        text_header(out, &s);
    for (size_t i = 0; i < s.n; i++)
        print_row(&c, &s, &units, s.rows[i]);
    if (!csv)
        text_footer(out, &s);
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
    const struct tr_row **rows = tr_select(trace, tr_is_call, tr_by_start, &n);
    struct tr_index *work = tr_index_make(trace, false);
    struct cells c = {.out = out, .csv = csv};
    uint64_t start = 0, duration = 0;
    for (size_t i = 0; i < n; i++) {
        LARGEST(start, rows[i]->start_ns);
        LARGEST(duration, tr_ns(rows[i]));
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
        cell_time(&c, row->start_ns, s);
        cell_time(&c, tr_ns(row), d);
        cell_named(&c, 0, "%s", row->name);
        if (csv)
            cell(&c, 0, "%" PRIu64, row->correlation);
        else if (kernel)
            fprintf(out, " (%s [%" PRIu64 "])", kernel->name, row->correlation);
        cells_end(&c);
    }
    free(work);
    free(rows);
}
