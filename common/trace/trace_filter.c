/* Selects parts of a trace: kernels by a filter, and the ranges that a program requests to
 * profile. */
#include "trace/trace_parts.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels -------------------------------------------------------------------------------- */

/** A filter in its parts; numbers that are not given are 0. */
struct filter {
    unsigned long context, stream, invocation;
    char *name; /* a regular expression, malloc'd */
};

/* Reads a number or nothing, up to a colon or the end. @return the position after it; NULL: other
 * text.
 */
static const char *number_part(const char *text, unsigned long *number)
{
    const size_t digits = strspn(text, "0123456789");
    *number = digits ? strtoul(text, NULL, 10) : 0;
    return text[digits] == ':' || !text[digits] ? text + digits : NULL;
}

/* Splits CONTEXT:STREAM:NAME:INVOCATION, whose name may contain colons; any other text is a
 * name. */
static void split(const char *text, struct filter *f)
{
    const char *stream, *name, *last = strrchr(text, ':');
    *f = (struct filter){0};
    if (last && (stream = number_part(text, &f->context)) && *stream &&
        (name = number_part(stream + 1, &f->stream)) && *name && name < last &&
        number_part(last + 1, &f->invocation)) {
        f->name = strndup(name + 1, (size_t)(last - name - 1));
        return;
    }
    *f = (struct filter){.name = strdup(text)};
}

/* How often each name occurred. A list suffices, because names are few. */
struct seen {
    size_t n;
    struct {
        const char *name;
        unsigned long times;
    } of[1024];
};

static unsigned long times_seen(struct seen *seen, const char *name)
{
    size_t k = 0;
    while (k < seen->n && strcmp(seen->of[k].name, name) != 0)
        k++;
    if (k == sizeof seen->of / sizeof *seen->of)
        return 0;
    if (k == seen->n) {
        seen->of[k].name = name;
        seen->of[k].times = 0;
        seen->n++;
    }
    return ++seen->of[k].times;
}

/* Removes marked rows. */
static void remove_rows(struct tr_trace *trace, const bool *gone)
{
    size_t n = 0;
    for (size_t i = 0; i < trace->n; i++)
        if (!gone[i])
            trace->rows[n++] = trace->rows[i];
    trace->n = n;
}

/* Visits kernels in the order of their starts, to count invocations. */
static bool filter_kernels(struct tr_trace *t, const struct filter *f, const regex_t *regex)
{
    size_t n;
    const struct tr_row **kernels = tr_select(t, tr_is_kernel, tr_by_start, &n);
    bool *gone = calloc(t->n + 1, sizeof *gone);
    struct seen *seen = calloc(1, sizeof *seen);
    const bool memory = kernels && gone && seen;
    for (size_t i = 0; memory && i < n; i++) {
        const struct tr_row *k = kernels[i];
        const bool matches = (!f->context || (unsigned long)tr_context(k) == f->context) &&
                             (!f->stream || k->stream_number == f->stream) &&
                             regexec(regex, k->name, 0, NULL, 0) == 0;
        gone[k - t->rows] =
            !matches || (f->invocation && times_seen(seen, k->name) != f->invocation);
    }
    if (memory)
        remove_rows(t, gone);
    free(kernels);
    free(gone);
    free(seen);
    return memory;
}

enum st_code tr_filter(struct tr_trace *trace, const char *filter, struct st_error *err)
{
    struct filter f;
    regex_t regex;
    split(filter, &f);
    if (!f.name)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the filter");
    int bad = regcomp(&regex, f.name, REG_EXTENDED | REG_NOSUB);
    free(f.name);
    if (bad) {
        char why[128];
        regerror(bad, &regex, why, sizeof why);
        st_fail(err, ST_USAGE, "--kernels: not a regular expression: %s", why);
        st_detail(err, ST_EXPECTED, "NAME or CONTEXT:STREAM:NAME:INVOCATION");
        return st_detail(err, ST_GOT, "%s", filter);
    }
    const bool good = filter_kernels(trace, &f, &regex);
    regfree(&regex);
    return good ? ST_OK : st_fail(err, ST_NO_MEMORY, "out of memory for the filter");
}

/* ---- cudaProfilerStart() to cudaProfilerStop() ---------------------------------------------- */

static bool is_switch(const struct tr_row *row, bool *on)
{
    *on = strcmp(row->name, "cudaProfilerStart") == 0 || strcmp(row->name, "cuProfilerStart") == 0;
    return (row->kind == TR_API || row->kind == TR_KINDS) &&
           (*on || strcmp(row->name, "cudaProfilerStop") == 0 ||
            strcmp(row->name, "cuProfilerStop") == 0);
}

/* Marks the calls outside the ranges; each client has its own switches. The switches count as
 * outside. */
static bool mark_calls(struct tr_trace *t, bool from_start, struct tr_row **calls, size_t n,
                       bool *gone)
{
    const size_t clients = trace_clients(t);
    bool *profiled = malloc(clients), on;
    if (!profiled)
        return false;
    memset(profiled, from_start, clients);
    for (size_t i = 0; i < n; i++) {
        const struct tr_row *call = calls[i];
        const size_t client =
            call->client >= 0 && (size_t)call->client < clients ? (size_t)call->client : 0;
        const bool is = is_switch(call, &on);
        if (call->kind == TR_API)
            gone[call - t->rows] = is || !profiled[client];
        if (is)
            profiled[client] = on;
    }
    free(profiled);
    return true;
}

/* Lists the calls and the switches by time. @return their number; *@p switches of them are
 * switches */
static size_t list_calls(struct tr_trace *t, struct tr_row **calls, size_t *switches)
{
    bool on;
    size_t n = 0;
    *switches = t->switch_count;
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].kind == TR_API) {
            *switches += is_switch(&t->rows[i], &on);
            calls[n++] = &t->rows[i];
        }
    for (size_t i = 0; i < t->switch_count; i++)
        calls[n++] = &t->switches[i];
    if (n)
        qsort(calls, n, sizeof *calls, tr_by_start);
    return n;
}

enum st_code tr_profiled_range(struct tr_trace *t, bool from_start, struct st_error *err)
{
    struct tr_row **calls = calloc(t->n + t->switch_count + 1, sizeof *calls);
    bool *gone = calloc(t->n + 1, sizeof *gone);
    struct tr_index *index = NULL;
    size_t n = 0, switches = 0;
    bool memory = calls && gone;
    if (memory)
        n = list_calls(t, calls, &switches);
    if (memory && (switches || !from_start)) {
        index = tr_index_make(t, true);
        memory = index && mark_calls(t, from_start, calls, n, gone);
        for (size_t i = 0; memory && i < t->n; i++) {
            const struct tr_row *call =
                t->rows[i].kind == TR_API ? NULL : tr_index_find(index, &t->rows[i]);
            if (t->rows[i].kind != TR_API)
                gone[i] = call ? gone[call - t->rows] : !from_start;
        }
        if (memory)
            remove_rows(t, gone);
    }
    free(calls);
    free(gone);
    free(index);
    return memory ? ST_OK : st_fail(err, ST_NO_MEMORY, "out of memory for the range");
}
