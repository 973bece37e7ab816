/* Traces for the tests, written row by row. */
#pragma once

#include "base/tests/test_text.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct trace_text {
    char *text;
    size_t bytes;
    FILE *out;
};

static inline void trace_begin(struct trace_text *t)
{
    t->out = open_memstream(&t->text, &t->bytes);
    cr_assert(t->out);
    fprintf(t->out, "kind\tname\tclient\tstream\tstart_ns\tend_ns\tbytes\tgrid\tblock\tregisters\t"
                    "static_shared_bytes\tdynamic_shared_bytes\toccupancy\terror\tsymbol\t"
                    "host_memory\twarp_instructions\tglobal_load_sectors\tglobal_load_bytes\t"
                    "branches\tdivergent_branches\n");
}

/* Adds a row. A kernel's name is also its symbol; its counters are fixed. */
static inline void trace_row(struct trace_text *t, const char *kind, const char *name,
                             uint64_t start, uint64_t end)
{
    const bool kernel = strcmp(kind, "kernel") == 0, api = strcmp(kind, "api") == 0,
               named = kernel || api || strcmp(kind, "switch") == 0;
    fprintf(t->out, "%s\t%s\t1\t0\t%llu\t%llu\t%s\t%s\t%s\n", kind, named ? name : "",
            (unsigned long long)start, (unsigned long long)end, named ? "" : "40000000",
            kernel ? "39063x1x1\t256x1x1\t8\t0\t0\t0.9104\t0" : "\t\t\t\t\t\t0",
            kernel ? "\t\t100\t8\t128\t10\t1" : "\tpageable\t\t\t\t\t");
}

/* Reads a trace. @param text  malloc'd; the trace frees it */
static inline struct tr_trace trace_of(char *text)
{
    struct tr_trace trace;
    struct st_error err;
    cr_assert_eq(tr_parse(text, strlen(text), "trace", &trace, &err), ST_OK, "%s", err.what);
    return trace;
}

static inline struct tr_trace trace_end(struct trace_text *t)
{
    fclose(t->out);
    return trace_of(t->text);
}
