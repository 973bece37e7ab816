/* The command line of ncu. */
#include "vprof/ncu_parts.h"

#include "base/files.h"
#include "base/process.h"
#include "vprof/ncu.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

const struct ncu_column ncu_columns[NCU_COLUMNS] = {
#define COMMON(name, type, rows, ncu, text) {#name, ncu, true},
#define REAL(name, type, rows, ncu, text)   {#name, ncu, true},
#define COLUMN(name, type, rows, ncu, text) {#name, ncu, false},
#define VIRTUAL(...)
#define TERM(...)
#include "vgpu/api/trace_columns.def"
};

static bool ncu_find(char *to)
{
    const char *home = getenv("CUDA_HOME");
    char folder[PATH_MAX];
    if (process_find(getenv("PATH"), "ncu", to) ||
        (home && path_format(folder, sizeof folder, "%s/bin", home) &&
         process_find(folder, "ncu", to)) ||
        process_find("/usr/local/cuda/bin", "ncu", to))
        return true;
    glob_t found;
    bool there = false;
    if (glob("/opt/nvidia/nsight-compute/*/ncu", 0, NULL, &found) == 0) {
        there = path_format(to, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
        globfree(&found);
    }
    return there;
}

bool ncu_next_term(const char **at, double *factor, char metric[128])
{
    const char *text = *at + strspn(*at, "+ ");
    const size_t n = strcspn(text, " ");
    if (n == 0 || n > 127)
        return false;
    char *end;
    *factor = strtod(text, &end);
    const bool times = end > text && *end == '*';
    if (!times)
        *factor = 1;
    const char *name = times ? end + 1 : text;
    snprintf(metric, 128, "%.*s", (int)(n - (size_t)(name - text)), name);
    *at = text + n;
    return true;
}

static char *metrics_text(bool (*wanted)(const char *, void *), void *context)
{
    char *text = NULL, metric[128];
    size_t bytes;
    double factor;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    fputs("gpu__time_duration.sum", out);
    for (const struct ncu_column *c = ncu_columns; c < ncu_columns + NCU_COLUMNS; c++)
        for (const char *at = c->sum;
             (c->always || wanted(c->name, context)) && ncu_next_term(&at, &factor, metric);)
            fprintf(out, ",%s", metric);
    fclose(out);
    return text;
}

/* Whether a filter is a plain name, which means the same to ncu. */
static bool plain(const char *kernels)
{
    return kernels && *kernels &&
           strspn(kernels, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               strlen(kernels);
}

enum st_code ncu_command_make(struct ncu_command *c, bool (*wanted)(const char *, void *),
                              void *context, const char *kernels, bool sections, bool from_start,
                              const char *csv, char **program, struct st_error *err)
{
    enum { OPTIONS = 48 };
    *c = (struct ncu_command){.metrics = NULL};
    if (!ncu_find(c->path)) {
        st_fail(err, ST_MISSING_TOOL,
                "metrics and events of a real GPU need ncu, which was not found");
        return st_detail(err, ST_HINT,
                         "put Nsight Compute (part of the CUDA Toolkit) into PATH, or use --device "
                         "virtual");
    }
    size_t n = 0, arguments = 0;
    while (program[arguments])
        arguments++;
    c->metrics = metrics_text(wanted, context);
    c->arguments = calloc(OPTIONS + arguments + 1, sizeof *c->arguments);
    if (!c->metrics || !c->arguments) {
        ncu_command_free(c);
        return st_fail(err, ST_NO_MEMORY, "out of memory for ncu's command");
    }
    const char *const options[] = {c->path,
                                   "--csv",
                                   "--page",
                                   "raw",
                                   "--print-units",
                                   "base",
                                   "--print-kernel-base",
                                   "mangled",
                                   "--clock-control",
                                   "none",
                                   "--target-processes",
                                   "all",
                                   "--profile-from-start",
                                   from_start ? "on" : "off",
                                   "--log-file",
                                   csv,
                                   "--metrics",
                                   c->metrics};
    for (size_t i = 0; i < LENGTH(options); i++)
        c->arguments[n++] = (char *)options[i];
    for (const char *const *section = ncu_identifiers; sections && *section; section++) {
        c->arguments[n++] = "--section";
        c->arguments[n++] = (char *)*section;
    }
    if (plain(kernels)) {
        snprintf(c->filter, sizeof c->filter, "regex:%s", kernels);
        c->arguments[n++] = "--kernel-name-base";
        c->arguments[n++] = "demangled";
        c->arguments[n++] = "--kernel-name";
        c->arguments[n++] = c->filter;
    }
    for (size_t i = 0; i < arguments; i++)
        c->arguments[n++] = program[i];
    return ST_OK;
}

void ncu_command_free(struct ncu_command *c)
{
    free(c->metrics);
    free(c->arguments);
    *c = (struct ncu_command){.metrics = NULL};
}
