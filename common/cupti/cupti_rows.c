#include "cupti/cupti_rows.h"

#include "trace/gpu_columns.h"
#include "vgpu/probe/names.h"

#include <stdio.h>
#include <string.h>

/* A row under construction: fields are added in the order of the columns; skipped fields are empty.
 * It does not use snprintf(), because there may be a hundred thousand rows per second. */
struct row {
    struct cupti_rows *rows;
    char *at, *end; /* after the end, two bytes are reserved for a tab and the newline */
    int column;
};

static void skip_to(struct row *r, enum gpu_column column)
{
    while (r->column < (int)column) {
        *r->at++ = '\t';
        r->column++;
    }
}

static struct row row_begin(struct cupti_rows *rows, const char *kind);

/* Escaped as in base/tsv.h. */
static void put_text(struct row *r, enum gpu_column column, const char *text)
{
    skip_to(r, column);
    for (; text && *text && r->at + 2 < r->end; text++) {
        const char *special = strchr("\tt\nn\rr\\\\", *text);
        if (special && (special - "\tt\nn\rr\\\\") % 2 == 0) {
            *r->at++ = '\\';
            *r->at++ = special[1];
        } else {
            *r->at++ = *text;
        }
    }
}

static void put_number(struct row *r, enum gpu_column column, uint64_t number)
{
    char digits[24];
    int n = 0;
    skip_to(r, column);
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n > 0)
        *r->at++ = digits[--n];
}

static void put_correlation(struct row *r, uint32_t correlation)
{
    const uint64_t number = r->rows->number_before + correlation;
    put_number(r, GPU_correlation, number);
    if (number > r->rows->number_last)
        r->rows->number_last = number;
}

static struct row row_begin(struct cupti_rows *rows, const char *kind)
{
    /* names get at most half of the buffer, so that the figures after them fit */
    struct row r = {.rows = rows,
                    .at = rows->text + rows->used,
                    .end = rows->text + rows->used + CUPTI_ROW_MAX / 2,
                    .column = GPU_kind};
    put_text(&r, GPU_kind, kind);
    return r;
}

static void row_end(struct row *r)
{
    skip_to(r, GPU_COLUMNS_N - 1);
    *r->at++ = '\n';
    r->rows->used = (size_t)(r->at - r->rows->text);
}

static void put_size(struct row *r, enum gpu_column column, int32_t x, int32_t y, int32_t z)
{
    char text[48];
    snprintf(text, sizeof text, "%dx%dx%d", x, y, z);
    put_text(r, column, text);
}

/* @return whether the times are known; otherwise the activity is skipped and counted. */
static bool put_times(struct row *r, uint64_t start, uint64_t end)
{
    const uint64_t zero = r->rows->zero_ns;
    if (start == 0 || end < start) {
        r->rows->incomplete++;
        return false;
    }
    put_number(r, GPU_start_ns, start > zero ? start - zero : 0);
    put_number(r, GPU_end_ns, end > zero ? end - zero : 0);
    return true;
}

static void add_kernel(struct cupti_rows *rows, const CUpti_ActivityKernel10 *k)
{
    struct row r = row_begin(rows, "kernel");
    char name[512];
    name_demangle(k->name ? k->name : "", name, sizeof name);
    put_text(&r, GPU_name, name);
    put_number(&r, GPU_client, (uint64_t)rows->client);
    put_number(&r, GPU_stream, k->streamId);
    if (!put_times(&r, k->start, k->end))
        return;
    put_size(&r, GPU_grid, k->gridX, k->gridY, k->gridZ);
    put_size(&r, GPU_block, k->blockX, k->blockY, k->blockZ);
    put_number(&r, GPU_registers, k->registersPerThread);
    put_number(&r, GPU_static_shared_bytes, (uint64_t)k->staticSharedMemory);
    put_number(&r, GPU_dynamic_shared_bytes, (uint64_t)k->dynamicSharedMemory);
    put_number(&r, GPU_shared_config_bytes, k->sharedMemoryExecuted);
    r.end += CUPTI_ROW_MAX / 4;
    put_text(&r, GPU_symbol, k->name);
    r.end += CUPTI_ROW_MAX / 4 - 128;
    put_correlation(&r, k->correlationId);
    put_number(&r, GPU_device, k->deviceId);
    put_number(&r, GPU_serial, k->kind == CUPTI_ACTIVITY_KIND_KERNEL);
    row_end(&r);
}

static const char *copy_kind(uint8_t kind)
{
    static const char *const names[] = {[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "copy_htod",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "copy_dtoh",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "copy_htoa",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "copy_atoh",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "copy_atoa",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "copy_atod",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "copy_dtoa",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "copy_dtod",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "copy_htoh",
                                        [CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "copy_ptop"};
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

/* The kind of host memory in a copy; GPU memory has only one kind. */
static const char *host_memory(uint8_t source, uint8_t destination)
{
    const uint8_t kinds[] = {source, destination};
    for (int i = 0; i < 2; i++)
        switch (kinds[i]) {
        case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
            return "pageable";
        case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
            return "pinned";
        case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
        case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
            return "managed";
        default:
            break;
        }
    return "";
}

/* Adds a copy or a fill, which moves bytes on a stream. */
static void add_move(struct cupti_rows *rows, const char *kind, const char *host_memory,
                     uint32_t stream, uint64_t start, uint64_t end, uint64_t bytes,
                     uint32_t correlation, uint32_t device)
{
    struct row r = row_begin(rows, kind);
    put_number(&r, GPU_client, (uint64_t)rows->client);
    put_number(&r, GPU_stream, stream);
    if (!put_times(&r, start, end))
        return;
    put_number(&r, GPU_bytes, bytes);
    put_text(&r, GPU_host_memory, host_memory);
    put_correlation(&r, correlation);
    put_number(&r, GPU_device, device);
    row_end(&r);
}

static void add_copy(struct cupti_rows *rows, const CUpti_ActivityMemcpy6 *c)
{
    const char *kind = copy_kind(c->copyKind);
    if (!kind) {
        rows->unknown++;
        return;
    }
    add_move(rows, kind, host_memory(c->srcKind, c->dstKind), c->streamId, c->start, c->end,
             c->bytes, c->correlationId, c->deviceId);
}

static void add_peer_copy(struct cupti_rows *rows, const CUpti_ActivityMemcpyPtoP4 *c)
{
    add_move(rows, "copy_ptop", "", c->streamId, c->start, c->end, c->bytes, c->correlationId,
             c->deviceId);
}

static void add_fill(struct cupti_rows *rows, const CUpti_ActivityMemset4 *m)
{
    add_move(rows, "memset", "", m->streamId, m->start, m->end, m->bytes, m->correlationId,
             m->deviceId);
}

/* Whether a call switches the profiler on or off: cupti_rows_switch() records such calls. */
static bool is_switch(const CUpti_ActivityAPI *a)
{
    return a->kind == CUPTI_ACTIVITY_KIND_DRIVER
               ? a->cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart ||
                     a->cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop
               : a->cbid == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000 ||
                     a->cbid == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000;
}

static void add_call(struct cupti_rows *rows, const CUpti_ActivityAPI *a)
{
    if ((rows->last_ns && a->start >= rows->last_ns) || is_switch(a))
        return;
    const char *name = NULL;
    if (rows->api->cuptiGetCallbackName(a->kind == CUPTI_ACTIVITY_KIND_DRIVER
                                            ? CUPTI_CB_DOMAIN_DRIVER_API
                                            : CUPTI_CB_DOMAIN_RUNTIME_API,
                                        a->cbid, &name) != CUPTI_SUCCESS ||
        !name) {
        rows->unknown++;
        return;
    }
    struct row r = row_begin(rows, "api");
    put_text(&r, GPU_name, name);
    put_number(&r, GPU_client, (uint64_t)rows->client);
    if (!put_times(&r, a->start, a->end))
        return;
    put_number(&r, GPU_error, a->returnValue);
    put_correlation(&r, a->correlationId);
    put_number(&r, GPU_thread, a->threadId);
    row_end(&r);
}

void cupti_rows_fact(struct cupti_rows *rows, const char *kind, const char *name, uint64_t number)
{
    struct row r = row_begin(rows, kind);
    put_text(&r, GPU_name, name);
    put_number(&r, GPU_client, (uint64_t)rows->client);
    put_number(&r, GPU_bytes, number);
    row_end(&r);
}

void cupti_rows_switch(struct cupti_rows *rows, bool on, uint64_t now)
{
    struct row r = row_begin(rows, "switch");
    put_text(&r, GPU_name, on ? "cudaProfilerStart" : "cudaProfilerStop");
    put_number(&r, GPU_client, (uint64_t)rows->client);
    if (put_times(&r, now, now))
        row_end(&r);
}

/* Facts about the GPU, from which occupancy and rooflines are computed. All GPUs of a program are
 * assumed to be of the same kind. */
static void add_device(struct cupti_rows *rows, const CUpti_ActivityDevice5 *d)
{
    if (d->id != 0)
        return;
    const struct {
        const char *name;
        uint64_t number;
    } facts[] = {{"compute_capability", 10 * d->computeCapabilityMajor + d->computeCapabilityMinor},
                 {"multiprocessors", d->numMultiprocessors},
                 {"clock_khz", d->coreClockRate},
                 {"memory_kbyte_per_s", d->globalMemoryBandwidth},
                 {"memory_bytes", d->globalMemorySize},
                 {"l2_bytes", d->l2CacheSize},
                 {"warps_per_multiprocessor", d->maxWarpsPerMultiprocessor},
                 {"blocks_per_multiprocessor", d->maxBlocksPerMultiprocessor},
                 {"shared_per_multiprocessor_bytes", d->maxSharedMemoryPerMultiprocessor},
                 {"registers_per_multiprocessor", d->maxRegistersPerMultiprocessor},
                 {"registers_per_block", d->maxRegistersPerBlock},
                 {"threads_per_block", d->maxThreadsPerBlock}};
    struct row r = row_begin(rows, "device");
    put_text(&r, GPU_name, d->name);
    put_number(&r, GPU_client, (uint64_t)rows->client);
    row_end(&r);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        cupti_rows_fact(rows, "limit", facts[i].name, facts[i].number);
}

void cupti_rows_add(struct cupti_rows *rows, const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
        add_kernel(rows, (const CUpti_ActivityKernel10 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        add_copy(rows, (const CUpti_ActivityMemcpy6 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add_peer_copy(rows, (const CUpti_ActivityMemcpyPtoP4 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        add_fill(rows, (const CUpti_ActivityMemset4 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        add_call(rows, (const CUpti_ActivityAPI *)record);
        break;
    case CUPTI_ACTIVITY_KIND_DEVICE:
        add_device(rows, (const CUpti_ActivityDevice5 *)record);
        break;
    default:
        rows->unknown++;
        break;
    }
}
