#include "vprof/vprof_options.h"

#include "base/option_table.h"
#include "trace/figures.h"
#include "vgpu/device/device_process.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* @return the struct that has the member of a row */
static struct vprof_options *owner(void *to, const struct option_row *row)
{
    return (struct vprof_options *)(void *)((char *)to - row->offset);
}

static void wrong(struct vprof_options *o, const char *option, const char *expected,
                  const char *got, const char *what)
{
    if (o->err.code)
        return;
    st_fail(&o->err, ST_USAGE, "%s", what);
    st_detail(&o->err, ST_WHERE, "--%s", option);
    st_detail(&o->err, ST_EXPECTED, "%s", expected);
    st_detail(&o->err, ST_GOT, "%s", got);
}

#define TAKE(name)                                                                                 \
    static void name(void *to, char *text, const struct option_row *row, struct argp_state *state)

TAKE(take_device)
{
    struct vprof_options *o = owner(to, row);
    (void)state;
    if (strncmp(text, "virtual", 7) == 0 && (text[7] == '\0' || (text[7] == ':' && text[8]))) {
        o->device = VPROF_VIRTUAL;
        o->profile = text[7] ? text + 8 : NULL;
    } else if (strcmp(text, "gpu") == 0) {
        o->device = VPROF_GPU;
    } else if (strcmp(text, "auto") == 0) {
        o->device = VPROF_AUTO;
    } else {
        wrong(o, row->name, "auto, gpu, virtual or virtual:GPU", text, "unknown device");
    }
}

TAKE(take_export)
{
    struct vprof_options *o = owner(to, row);
    (void)state;
    const size_t n = strcspn(text, ":");
    const char *file = text[n] ? text + n + 1 : NULL;
    if (n == 6 && strncmp(text, "chrome", n) == 0 && !(file && !*file)) {
        o->chrome = true;
        o->chrome_path = file ? file : "vprof-trace.json";
    } else if (n == 6 && strncmp(text, "sqlite", n) == 0 && !(file && !*file)) {
        o->sqlite_path = file ? file : "vprof-trace.sqlite";
    } else {
        wrong(o, row->name, "chrome, chrome:FILE, sqlite or sqlite:FILE", text,
              "unknown export format");
    }
}

TAKE(take_style)
{
    static const char *const names[] = {
        [STYLE_NVPROF] = "nvprof", [STYLE_NSYS] = "nsys", [STYLE_NCU] = "ncu"};
    enum vprof_style *style = to;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *style = (enum vprof_style)i;
            return;
        }
    wrong(owner(to, row), row->name, "nvprof, nsys or ncu", text, "unknown style");
}

TAKE(take_page)
{
    (void)state;
    *(bool *)to = true;
    if (strcmp(text, "details") != 0)
        wrong(owner(to, row), row->name, "details", text, "vprof does not have this page of ncu");
}

/* Reads "on" or "off"; the member becomes true for off. */
TAKE(take_off)
{
    (void)state;
    *(bool *)to = strcmp(text, "off") == 0;
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        wrong(owner(to, row), row->name, "on or off", text, "this option is on or off");
}

TAKE(take_concurrent)
{
    struct vprof_options *o = owner(to, row);
    take_off(to, text, row, state);
    o->concurrent = !o->serial;
}

TAKE(take_timeout)
{
    char *end;
    const unsigned long seconds = strtoul(text, &end, 10);
    (void)state;
    if (*end || end == text || seconds < 1 || seconds > 1000000)
        wrong(owner(to, row), row->name, "a number of seconds", text, "not a time");
    *(unsigned *)to = (unsigned)seconds;
}

TAKE(take_unit)
{
    (void)state;
    if (!figure_time_choose(text))
        wrong(to, row->name, "s, ms, us, ns, col or auto", text, "unknown unit of time");
}

TAKE(take_metrics)
{
    struct vprof_options *o = owner(to, row);
    (void)state;
    if (!o->err.code)
        metrics_choose(to, text, to == &o->events, &o->err);
}

TAKE(take_summary)
{
    struct vprof_options *o = to;
    (void)text, (void)row, (void)state;
    o->gpu_summary = o->api_summary = true;
}

TAKE(take_nothing)
{
    (void)to, (void)text, (void)row, (void)state;
}

TAKE(print_help)
{
    (void)to, (void)text, (void)row;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
}

/* An option of nvprof that vprof lacks. The row's first word is the advice to print. The second is
 * the only accepted value: vprof always works that way. */
TAKE(take_absent)
{
    struct vprof_options *o = to;
    (void)state;
    if (o->err.code || (text && row->words[1] && strcmp(text, row->words[1]) == 0))
        return;
    if (row->name)
        st_fail(&o->err, ST_USAGE, "vprof does not have nvprof's option --%s", row->name);
    else
        st_fail(&o->err, ST_USAGE, "vprof does not have nvprof's option -%c", row->letter);
    st_detail(&o->err, ST_HINT, "%s", row->words[0]);
}

TAKE(take_program)
{
    struct vprof_options *o = to;
    (void)text, (void)row;
    o->program = state->argv + state->next - 1;
    state->next = state->argc;
}

static void check(void *options, struct argp_state *state)
{
    const struct vprof_options *o = options;
    if (!o->program && !o->import && !o->query_metrics && !o->query_events && !o->version &&
        !o->err.code)
        argp_error(state, "no program given");
    if (o->program && o->import)
        argp_error(state, "expected a program or --import-profile, got both");
    if (o->style != STYLE_NCU && (o->page || o->baseline))
        argp_error(state, "--page and --baseline need --style ncu");
    if (o->style != STYLE_NVPROF && (o->gpu_trace || o->api_trace || o->gpu_summary ||
                                     o->api_summary || o->metrics.n || o->events.n || o->analysis))
        argp_error(state, "--style nsys and --style ncu cannot print the tables of nvprof");
}

#define FLAG(member)         OPTION_FLAG(struct vprof_options, member)
#define FILE_NAME(member)    OPTION_TEXT(struct vprof_options, member)
#define BY(member, function) OPTION_TAKE(struct vprof_options, member, function)
#define ABSENT(name, argument, accepted, instead)                                                  \
    {                                                                                              \
        name, 0, argument, NULL, OPTION_TAKE_ALL(take_absent), .words = (const char *const[])      \
        {                                                                                          \
            instead, accepted                                                                      \
        }                                                                                          \
    }

/* --help omits rows without a text. */
static const struct option_row rows[] = {
    OPTION_GROUP("Output:"),
    {"print-summary", 's', NULL, "both groups of the summary (default)",
     OPTION_TAKE_ALL(take_summary)},
    {"print-gpu-summary", 0, NULL, "the summary of the GPU's activities", FLAG(gpu_summary)},
    {"print-api-summary", 0, NULL, "the summary of the API calls", FLAG(api_summary)},
    {"print-gpu-trace", 0, NULL, "each kernel, copy and fill", FLAG(gpu_trace)},
    {"print-api-trace", 0, NULL, "each call of the CUDA runtime and driver", FLAG(api_trace)},
    {"metrics", 'm', "NAME,...", "metrics of the kernels; the name all selects every metric",
     BY(metrics, take_metrics)},
    {"events", 'e', "NAME,...", "events of the kernels; the name all selects every event",
     BY(events, take_metrics)},
    {"analysis", 0, NULL, "the limiter of each kernel, and the most expensive source lines",
     FLAG(analysis)},
    OPTION_ALSO("analysis-metrics"),
    {"csv", 0, NULL, "print comma-separated values", FLAG(csv)},
    {"style", 0, "nvprof|nsys|ncu",
     "the style: nvprof (default), nsys (the four summaries of nsys stats), or ncu (the sections of ncu --page details for each launch)",
     BY(style, take_style)},
    {"page", 0, "details", "with --style ncu: the page to print (the only one is details)",
     BY(page, take_page)},
    {"baseline", 0, "FILE", "with --style ncu: compare with a kept trace", FILE_NAME(baseline)},
    {"normalized-time-unit", 'u', "s|ms|us|ns|col|auto",
     "the unit of times; col: one unit per column; auto: one per value (default)",
     OPTION_TAKE_ALL(take_unit)},
    {"query-metrics", 0, NULL, "list the metrics", FLAG(query_metrics)},
    {"query-events", 0, NULL, "list the events", FLAG(query_events)},
    {"demangling", 0, "on|off", "name kernels by their C++ names (default) or their symbols",
     BY(mangled, take_off)},
    OPTION_GROUP("Recording:"),
    {"device", 0, "auto|gpu|virtual[:GPU]",
     "auto: the GPU if the machine has one, else the virtual GPU; the virtual GPU models: h200 (default), h100, a40, a10g, rtx-4060-laptop, rtx-3060, t4, rtx-2080, v100, titan-v, k80, or a file",
     BY(device, take_device)},
    {"kernels", 0, "FILTER",
     "only kernels that match: a regular expression for the name, or CONTEXT:STREAM:NAME:INVOCATION",
     FILE_NAME(kernels)},
    {"profile-from-start", 0, "on|off",
     "off: record only between cudaProfilerStart() and cudaProfilerStop()",
     BY(range_only, take_off)},
    {"concurrent-kernels", 0, "on|off",
     "on a GPU: whether kernels may run at the same time (default: on, once the program has created a stream or graph)",
     BY(serial, take_concurrent)},
    {"timeout", 't', "SECONDS", "end the program after this time", BY(timeout_s, take_timeout)},
    {"cores", 0, "N", "number of threads of the virtual GPU (default: all cores)",
     FILE_NAME(cores)},
    {"engine", 0, "ENGINE", VG_ENGINE_HELP,
     OPTION_WORD(struct vprof_options, engine, vg_engine_words)},
    OPTION_GROUP("Files:"),
    {"log-file", 0, "FILE",
     "print to a file; %1: to stdout; %p in its name is the process id, %h the machine, %q{NAME} a variable",
     FILE_NAME(log)},
    {"export-profile", 'o', "FILE", "keep the trace in a file instead of printing a summary",
     FILE_NAME(keep)},
    OPTION_ALSO("output-profile"),
    {"force-overwrite", 'f', NULL, "overwrite files", FLAG(force)},
    {"import-profile", 'i', "FILE", "print the contents of a kept trace", FILE_NAME(import)},
    OPTION_ALSO("import"),
    {"export", 0, "chrome[:FILE]|sqlite[:FILE]",
     "write a timeline for Perfetto (default: vprof-trace.json), or a database with nsys's tables (default: vprof-trace.sqlite)",
     BY(chrome, take_export)},
    {"counters", 0, "FILE",
     "keep the counters of each source line (virtual GPU); with --import-profile: read them",
     FILE_NAME(counters)},
    {"time", 0, "FILE",
     "write the times and the memory of the program in the format of /usr/bin/time",
     FILE_NAME(time)},
    OPTION_LAST_GROUP("Others:"),
    {NULL, 'h', NULL, NULL, OPTION_TAKE_ALL(print_help)},
    {"quiet", 'q', NULL, "print only the tables", FLAG(quiet)},
    {"version", 'V', NULL, "print the version", FLAG(version)},
    {"wrapper", 0, "FILE", NULL, FILE_NAME(wrapper)},
    {"recordings", 0, "FILE", NULL, FILE_NAME(recordings)}, /* of blocks, for the grader's pages */
    {"progress", 0, "N", NULL, OPTION_INT(struct vprof_options, progress, 0, INT_MAX)},
    {"profile-child-processes", 0, NULL, NULL, OPTION_TAKE_ALL(take_nothing)}, /* always on */
    {.value = "PROGRAM", OPTION_OPERANDS(take_program)},
    /* options of nvprof that vprof lacks: see take_absent() */
    {NULL, 'a', "NAMES", NULL, OPTION_TAKE_ALL(take_absent),
     .words = (const char *const[]){"use --analysis: it ranks the source lines", NULL}},
    ABSENT("aggregate-mode", "on|off", "on", "values are always summed over the GPU's units"),
    ABSENT("annotate-mpi", "MODE", NULL,
           "profile one process: mpirun ... vprof --log-file FILE%p PROGRAM"),
    ABSENT("context-name", "NAME", NULL, "contexts are shown by number"),
    ABSENT("continuous-sampling-interval", "MS", NULL, "use ncu"),
    ABSENT("cpu-profiling", "on|off", "off", "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-explain-ccff", "FILE", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-frequency", "HZ", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-max-depth", "N", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-mode", "MODE", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-percentage-threshold", "N", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-scope", "SCOPE", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-show-ccff", "on|off", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-show-library", "on|off", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-thread-mode", "MODE", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-profiling-unwind-stack", "on|off", NULL, "use perf record -g PROGRAM"),
    ABSENT("cpu-thread-tracing", "on|off", "off", "use perf trace PROGRAM"),
    ABSENT("dependency-analysis", NULL, NULL, "use --export chrome and open the timeline"),
    ABSENT("device-buffer-size", "MB", NULL, "buffers grow as needed; lost records are reported"),
    ABSENT("device-cdp-buffer-size", "MB", NULL,
           "buffers grow as needed; lost records are reported"),
    ABSENT("devices", "IDS", NULL,
           "choose GPUs by the environment: CUDA_VISIBLE_DEVICES=0 vprof PROGRAM"),
    ABSENT("event-collection-mode", "MODE", NULL, "events are collected per kernel"),
    ABSENT(
        "kernel-latency-timestamps", "on|off", "off",
        "the gap between cudaLaunchKernel and its kernel is in --print-api-trace and --print-gpu-trace"),
    ABSENT("openacc-profiling", "on|off", "off", "OpenACC is not recorded"),
    ABSENT("openacc-summary-mode", "MODE", NULL, "OpenACC is not recorded"),
    ABSENT("openmp-profiling", "on|off", "off", "OpenMP is not recorded: use perf"),
    ABSENT("pc-sampling-period", "N", NULL, "use ncu --section SourceCounters, or --analysis"),
    ABSENT("print-dependency-analysis-trace", NULL, NULL,
           "use --export chrome and open the timeline"),
    ABSENT("print-nvlink-topology", NULL, NULL, "use nvidia-smi nvlink --status"),
    ABSENT("print-openacc-constructs", NULL, NULL, "OpenACC is not recorded"),
    ABSENT("print-openacc-summary", NULL, NULL, "OpenACC is not recorded"),
    ABSENT("print-openacc-trace", NULL, NULL, "OpenACC is not recorded"),
    ABSENT("print-openmp-summary", NULL, NULL, "OpenMP is not recorded: use perf"),
    ABSENT("print-pci-topology", NULL, NULL, "use nvidia-smi topo -m"),
    ABSENT("print-summary-per-gpu", NULL, NULL, "--print-gpu-trace names the GPU of each activity"),
    ABSENT("process-name", "NAME", NULL, "processes are shown by number"),
    ABSENT("profile-all-processes", NULL, NULL, "name the program: vprof PROGRAM"),
    ABSENT("profile-api-trace", "none|runtime|driver|all", "all",
           "all calls are recorded; --print-gpu-summary leaves them out"),
    ABSENT("replay-mode", "MODE", NULL, "ncu replays kernels as needed"),
    ABSENT("skip-kernel-replay-save-restore", "on|off", NULL, "ncu replays kernels as needed"),
    ABSENT("source-level-analysis", "NAMES", NULL, "use --analysis: it ranks the source lines"),
    ABSENT("stream-name", "NAME", NULL, "streams are shown by number"),
    ABSENT("system-profiling", "on|off", "off", "use nvidia-smi dmon"),
    ABSENT("trace", "gpu|api", NULL,
           "both are recorded; --print-gpu-summary and --print-api-summary show one"),
    ABSENT("track-memory-allocations", "on|off", "off",
           "use --print-api-trace, or compute-sanitizer --leak-check full PROGRAM"),
    ABSENT(
        "unified-memory-profiling", "MODE", "off",
        "migrations of managed memory are not recorded: use nsys profile --cuda-um-gpu-page-faults=true PROGRAM"),
    {0}};

void vprof_options_read(struct vprof_options *o, int argc, char **argv)
{
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "PROGRAM [ARGUMENT...]",
        .about =
            "Profile a CUDA program and print nvprof's tables, on this machine's GPU or on the virtual GPU.\v"
            "Tables go to stderr, or to --log-file. The exit status is the program's. If a signal ends the program, vprof prints everything recorded until then and ends by the same signal.",
        .flags = ARGP_IN_ORDER};
    *o = (struct vprof_options){.program = NULL};
    options_parse(&table, argc, argv, o);
}
