#include "vprof/gpu_trace.h"

#include "base/files.h"
#include "base/toolkit.h"
#include "base/tsv.h"
#include "trace/gpu_columns.h"
#include "trace/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

bool gpu_trace_possible(void)
{
    return getenv(GPU_ENV_CUPTI) || file_exists("/dev/nvidiactl");
}

/* CUPTI is in the toolkit, often where the loader does not look for libraries. If it is not found
 * there, the loader must search. */
static void find_cupti(char *to, size_t room)
{
    static const char *const places[] = {"lib64", "lib", "extras/CUPTI/lib64",
                                         "targets/x86_64-linux/lib"};
    static const char *const versions[] = {"13", "12", "11.0"};
    const char *named = getenv(GPU_ENV_CUPTI),
               *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), toolkit_find()};
    if (named && path_format(to, room, "%s", named))
        return;
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
        for (size_t p = 0; homes[h] && p < sizeof places / sizeof *places; p++)
            for (size_t v = 0; v < sizeof versions / sizeof *versions; v++)
                if (path_format(to, room, "%s/%s/libcupti.so.%s", homes[h], places[p],
                                versions[v]) &&
                    file_exists(to))
                    return;
    snprintf(to, room, "libcupti.so.13");
}

static bool set(struct gpu_trace *t, const char *name, const char *value)
{
    size_t n = 0;
    while (t->variables[n])
        n++;
    return asprintf(&t->variables[n], "%s=%s", name, value) > 0;
}

/* Writes the first row; the library appends the other rows. */
static enum st_code make_empty(const char *path, const char *clients, struct st_error *err)
{
    static const char *const columns[] = {
#define COMMON(name, ...) #name,
#define REAL(name, ...)   #name,
#include "vgpu/api/trace_columns.def"
    };
    struct file_out out;
    enum st_code code = file_out_open(&out, clients, err);
    if (!code)
        code = file_out_commit(&out, err);
    if (!code)
        code = file_out_open(&out, path, err);
    if (code)
        return code;
    tsv_write_row(out.f, GPU_COLUMNS_N, columns);
    return file_out_commit(&out, err);
}

enum st_code gpu_trace_begin(struct gpu_trace *t, const char *folder, const char *path,
                             struct st_error *err)
{
    char preload[2 * PATH_MAX], trace[PATH_MAX], start[32];
    const char *already = getenv("LD_PRELOAD"), *kernels = getenv(GPU_ENV_KERNELS);
    *t = (struct gpu_trace){0};
    if (!path_format(t->library, sizeof t->library, "%s/profiler/libconvlab-cupti.so", folder) ||
        !file_exists(t->library)) {
        st_fail(err, ST_NOT_FOUND, "the library that records programs on a GPU does not exist");
        st_detail(err, ST_WHERE, "%s", t->library);
        return st_detail(err, ST_HINT,
                         "run make profiler, which needs the CUDA Toolkit's header cupti.h");
    }
    path_format(t->clients, sizeof t->clients, "%s.clients", path);
    enum st_code code = make_empty(path, t->clients, err);
    if (code)
        return code;
    if (!realpath(path, trace))
        return st_fail(err, ST_IO, "cannot find the trace %s", path);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(start, sizeof start, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    snprintf(preload, sizeof preload, "%s%s%s", t->library, already && *already ? ":" : "",
             already ? already : "");
    find_cupti(t->cupti, sizeof t->cupti);
    char clients[PATH_MAX + 16];
    snprintf(clients, sizeof clients, "%s.clients", trace);
    if (set(t, "CUDA_INJECTION64_PATH", t->library) && set(t, "LD_PRELOAD", preload) &&
        set(t, GPU_ENV_TRACE, trace) && set(t, GPU_ENV_CLIENTS, clients) &&
        set(t, GPU_ENV_START, start) && set(t, GPU_ENV_CUPTI, t->cupti) &&
        set(t, GPU_ENV_KERNELS, kernels ? kernels : "auto") &&
        (getenv(GPU_ENV_FROM_START) || set(t, RECORDED_VARIABLE, "1")))
        return ST_OK;
    gpu_trace_end(t);
    return st_fail(err, ST_NO_MEMORY, "out of memory for the environment");
}

char **gpu_trace_environment(const struct gpu_trace *t)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **list = calloc(n + GPU_TRACE_VARIABLES + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool ours = false;
        for (size_t k = 0; t->variables[k]; k++)
            ours =
                ours || strncmp(environ[i], t->variables[k],
                                (size_t)(strchr(t->variables[k], '=') - t->variables[k]) + 1) == 0;
        if (!ours)
            list[kept++] = environ[i];
    }
    for (size_t k = 0; list && t->variables[k]; k++)
        list[kept++] = t->variables[k];
    return list;
}

void gpu_trace_end(struct gpu_trace *t)
{
    if (*t->clients)
        unlink(t->clients);
    for (size_t k = 0; t->variables[k]; k++)
        free(t->variables[k]);
    *t = (struct gpu_trace){0};
}
