#include "vprof/chrome.h"

#include "base/files.h"
#include "base/utf8.h"

#include <inttypes.h>

enum { HOST = 1, GPU = 2 };

static void process(FILE *out, int pid, const char *name)
{
    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", pid);
    utf8_put_json(out, name);
    fprintf(out, "}}");
}

/* The line of an activity: a thread of the host, or a stream; each process has its own lines. */
static uint64_t line_of(const struct tr_row *row)
{
    enum { STREAMS = 1000 };
    const uint64_t client = (uint64_t)tr_context(row);
    if (row->kind == TR_API)
        return row->thread ? row->thread : client;
    return STREAMS * (client - 1) + row->stream_number;
}

/* Names each line once, at its first row. */
static void name_lines(FILE *out, const struct tr_trace *trace)
{
    enum { NAMED_MAX = 256 };
    struct {
        bool api;
        uint64_t line;
    } named[NAMED_MAX];
    size_t n = 0;
    for (size_t i = 0; i < trace->n && n < NAMED_MAX; i++) {
        const struct tr_row *row = &trace->rows[i];
        const bool api = row->kind == TR_API;
        const uint64_t line = line_of(row);
        size_t k = 0;
        while (k < n && (named[k].api != api || named[k].line != line))
            k++;
        if (k < n)
            continue;
        named[n].api = api;
        named[n++].line = line;
        fprintf(out,
                ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%" PRIu64
                ",\"args\":{\"name\":\"",
                api ? HOST : GPU, line);
        if (api)
            fprintf(out, "%s %" PRIu64, row->thread ? "Thread" : "Process", line);
        else
            fprintf(out, "Stream %" PRIu64, row->stream_number);
        if (!api && row->client > 1)
            fprintf(out, " of process %d", row->client);
        fprintf(out, "\"}}");
    }
}

/* Times are microseconds; three decimals keep the nanoseconds. */
static void event(FILE *out, const struct tr_row *row)
{
    const bool api = row->kind == TR_API;
    const uint64_t ns = tr_ns(row);
    fprintf(out, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", api ? "api" : "gpu");
    utf8_put_json(out, row->name);
    fprintf(out,
            ",\"pid\":%d,\"tid\":%" PRIu64 ",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
            ".%03u,\"args\":{\"correlation\":%" PRIu64,
            api ? HOST : GPU, line_of(row), row->start_ns / 1000, (unsigned)(row->start_ns % 1000),
            ns / 1000, (unsigned)(ns % 1000), row->correlation);
    if (api)
        fprintf(out, ",\"error\":%d", row->error);
    if (row->bytes >= 0)
        fprintf(out, ",\"bytes\":%.0f", row->bytes);
    if (row->kind == TR_KERNEL)
        fprintf(out,
                ",\"grid\":\"%ux%ux%u\",\"block\":\"%ux%ux%u\",\"registers\":%d,"
                "\"static_shared_bytes\":%.0f,\"dynamic_shared_bytes\":%.0f,\"occupancy\":%.4f",
                row->grid[0], row->grid[1], row->grid[2], row->block[0], row->block[1],
                row->block[2], row->registers, row->static_shared_bytes, row->dynamic_shared_bytes,
                row->occupancy);
    fprintf(out, "}}");
}

enum st_code chrome_write(const struct tr_trace *trace, const char *path, struct st_error *err)
{
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fprintf(out.f, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    process(out.f, HOST, *trace->command ? trace->command : "host");
    fprintf(out.f, ",\n");
    process(out.f, GPU, *trace->device ? trace->device : "virtual GPU");
    name_lines(out.f, trace);
    for (size_t i = 0; i < trace->n; i++)
        event(out.f, &trace->rows[i]);
    fprintf(out.f, "\n]}\n");
    return file_out_commit(&out, err);
}
