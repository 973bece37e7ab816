#include "vprof/vprof_options.h"

#include "trace/figures.h"
#include "vgpu/device/program_run.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

/** nvprof's options that vprof does not have: X(name, argument or NULL, the argument that asks for
 * what is so anyway or NULL, what to do instead). */
#define ABSENT_MAP(X)                                                                              \
    X("aggregate-mode", "on|off", "on", "values are always summed up over the GPU's parts")        \
    X("annotate-mpi", "MODE", NULL,                                                                \
      "profile one process: mpirun ... vprof --log-file FILE%p PROGRAM")                           \
    X("context-name", "NAME", NULL, "contexts are shown by number")                                \
    X("continuous-sampling-interval", "MS", NULL, "use ncu")                                       \
    X("cpu-profiling", "on|off", "off", "use perf record -g PROGRAM")                              \
    X("cpu-profiling-explain-ccff", "FILE", NULL, "use perf record -g PROGRAM")                    \
    X("cpu-profiling-frequency", "HZ", NULL, "use perf record -g PROGRAM")                         \
    X("cpu-profiling-max-depth", "N", NULL, "use perf record -g PROGRAM")                          \
    X("cpu-profiling-mode", "MODE", NULL, "use perf record -g PROGRAM")                            \
    X("cpu-profiling-percentage-threshold", "N", NULL, "use perf record -g PROGRAM")               \
    X("cpu-profiling-scope", "SCOPE", NULL, "use perf record -g PROGRAM")                          \
    X("cpu-profiling-show-ccff", "on|off", NULL, "use perf record -g PROGRAM")                     \
    X("cpu-profiling-show-library", "on|off", NULL, "use perf record -g PROGRAM")                  \
    X("cpu-profiling-thread-mode", "MODE", NULL, "use perf record -g PROGRAM")                     \
    X("cpu-profiling-unwind-stack", "on|off", NULL, "use perf record -g PROGRAM")                  \
    X("cpu-thread-tracing", "on|off", "off", "use perf trace PROGRAM")                             \
    X("dependency-analysis", NULL, NULL, "use --export chrome and look at the timeline")           \
    X("device-buffer-size", "MB", NULL, "buffers grow as needed; lost records are reported")       \
    X("device-cdp-buffer-size", "MB", NULL, "buffers grow as needed; lost records are reported")   \
    X("devices", "IDS", NULL,                                                                      \
      "choose GPUs by the environment: CUDA_VISIBLE_DEVICES=0 vprof PROGRAM")                      \
    X("event-collection-mode", "MODE", NULL, "events are collected per kernel")                    \
    X("kernel-latency-timestamps", "on|off", "off",                                                \
      "the gap between cudaLaunchKernel and its kernel is in --print-api-trace and "               \
      "--print-gpu-trace")                                                                         \
    X("openacc-profiling", "on|off", "off", "OpenACC is not recorded")                             \
    X("openacc-summary-mode", "MODE", NULL, "OpenACC is not recorded")                             \
    X("openmp-profiling", "on|off", "off", "OpenMP is not recorded: use perf")                     \
    X("pc-sampling-period", "N", NULL, "use ncu --section SourceCounters, or --analysis")          \
    X("print-dependency-analysis-trace", NULL, NULL,                                               \
      "use --export chrome and look at the timeline")                                              \
    X("print-nvlink-topology", NULL, NULL, "use nvidia-smi nvlink --status")                       \
    X("print-openacc-constructs", NULL, NULL, "OpenACC is not recorded")                           \
    X("print-openacc-summary", NULL, NULL, "OpenACC is not recorded")                              \
    X("print-openacc-trace", NULL, NULL, "OpenACC is not recorded")                                \
    X("print-openmp-summary", NULL, NULL, "OpenMP is not recorded: use perf")                      \
    X("print-pci-topology", NULL, NULL, "use nvidia-smi topo -m")                                  \
    X("print-summary-per-gpu", NULL, NULL, "--print-gpu-trace names the GPU of each activity")     \
    X("process-name", "NAME", NULL, "processes are shown by number")                               \
    X("profile-all-processes", NULL, NULL, "name the program: vprof PROGRAM")                      \
    X("profile-api-trace", "none|runtime|driver|all", "all",                                       \
      "all calls are recorded; --print-gpu-summary leaves them out")                               \
    X("replay-mode", "MODE", NULL, "ncu replays kernels as it needs to")                           \
    X("skip-kernel-replay-save-restore", "on|off", NULL, "ncu replays kernels as it needs to")     \
    X("source-level-analysis", "NAMES", NULL, "use --analysis: it ranks the source lines")         \
    X("stream-name", "NAME", NULL, "streams are shown by number")                                  \
    X("system-profiling", "on|off", "off", "use nvidia-smi dmon")                                  \
    X("trace", "gpu|api", NULL,                                                                    \
      "both are recorded; --print-gpu-summary and --print-api-summary show one")                   \
    X("track-memory-allocations", "on|off", "off",                                                 \
      "use --print-api-trace, or compute-sanitizer --leak-check full PROGRAM")                     \
    X("unified-memory-profiling", "MODE", "off",                                                   \
      "migrations of managed memory are not recorded: use nsys profile "                           \
      "--cuda-um-gpu-page-faults=true PROGRAM")

static const struct {
    const char *name, *accepted, *instead;
} absent[] = {
#define ABSENT_ROW(name, argument, accepted, instead) {name, accepted, instead},
    ABSENT_MAP(ABSENT_ROW)
#undef ABSENT_ROW
};

enum {
    GPU_TRACE = 256,
    API_TRACE,
    GPU_SUMMARY,
    API_SUMMARY,
    CSV,
    LOG,
    QUERY_METRICS,
    QUERY_EVENTS,
    KERNELS,
    CHROME,
    DEVICE,
    CORES,
    FROM_START,
    DEMANGLING,
    CHILDREN,
    CONCURRENT,
    ANALYSIS,
    COUNTERS,
    TIME,
    WRAPPER,
    ABSENT /* one of nvprof's that vprof does not have */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is printed:", 1},
    {"print-summary", 's', NULL, 0, "both groups of the summary (default)", 1},
    {"print-gpu-summary", GPU_SUMMARY, NULL, 0, "the summary of the GPU's activities", 1},
    {"print-api-summary", API_SUMMARY, NULL, 0, "the summary of the API calls", 1},
    {"print-gpu-trace", GPU_TRACE, NULL, 0, "each kernel, copy and fill", 1},
    {"print-api-trace", API_TRACE, NULL, 0, "each call of the CUDA runtime and driver", 1},
    {"metrics", 'm', "NAME,...", 0, "metrics of the kernels; all: every one", 1},
    {"events", 'e', "NAME,...", 0, "events of the kernels; all: every one", 1},
    {"analysis", ANALYSIS, NULL, 0, "what limits each kernel, and the source lines that cost most",
     1},
    {"analysis-metrics", ANALYSIS, NULL, OPTION_ALIAS, NULL, 1},
    {"csv", CSV, NULL, 0, "print comma-separated values", 1},
    {"normalized-time-unit", 'u', "s|ms|us|ns|col|auto", 0,
     "the unit of times; col: one for each column; auto: for each figure (default)", 1},
    {"query-metrics", QUERY_METRICS, NULL, 0, "list the metrics", 1},
    {"query-events", QUERY_EVENTS, NULL, 0, "list the events", 1},
    {"demangling", DEMANGLING, "on|off", 0, "kernels by their C++ names (default) or their symbols",
     1},
    {NULL, 0, NULL, 0, "What is profiled:", 2},
    {"device", DEVICE, "auto|gpu|virtual[:GPU]", 0,
     "auto: the GPU, if there is one, else the virtual GPU; as which GPU: h200 (default), titan-v, "
     "k80, rtx-4060-laptop, or a file",
     2},
    {"kernels", KERNELS, "FILTER", 0,
     "only kernels that match: a regular expression for the name, or "
     "CONTEXT:STREAM:NAME:INVOCATION",
     2},
    {"profile-from-start", FROM_START, "on|off", 0,
     "off: only what lies between cudaProfilerStart() and cudaProfilerStop()", 2},
    {"concurrent-kernels", CONCURRENT, "on|off", 0,
     "on a GPU: kernels can run at the same time, or not (default: on, once the program has made a "
     "stream or graph)",
     2},
    {"timeout", 't', "SECONDS", 0, "end the program after so long", 2},
    {"cores", CORES, "N", 0, "threads that the virtual GPU uses (default: all cores)", 2},
    {NULL, 0, NULL, 0, "Files:", 3},
    {"log-file", LOG, "FILE", 0,
     "print to a file; %1: to stdout; %p in its name is the process id, %h the machine, %q{NAME} a "
     "variable",
     3},
    {"export-profile", 'o', "FILE", 0, "keep the trace in a file instead of printing a summary", 3},
    {"output-profile", 'o', NULL, OPTION_ALIAS, NULL, 3},
    {"force-overwrite", 'f', NULL, 0, "overwrite files", 3},
    {"import-profile", 'i', "FILE", 0, "print what a kept trace has", 3},
    {"import", 'i', NULL, OPTION_ALIAS, NULL, 3},
    {"export", CHROME, "chrome[:FILE]", 0,
     "write a timeline for Perfetto (default: vprof-trace.json)", 3},
    {"counters", COUNTERS, "FILE", 0,
     "keep the counters of each source line (virtual GPU); with --import-profile: read them", 3},
    {"time", TIME, "FILE", 0, "write what the program cost, as /usr/bin/time", 3},
    {NULL, 0, NULL, 0, "Others:", -1},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {"quiet", 'q', NULL, 0, "nothing but the tables", -1},
    {"version", 'V', NULL, 0, "print the version", -1},
    {NULL, 'a', "NAMES", OPTION_HIDDEN, NULL, 0},
    {"wrapper", WRAPPER, "FILE", OPTION_HIDDEN, NULL, 0},
    /* what is always so */
    {"profile-child-processes", CHILDREN, NULL, OPTION_HIDDEN, NULL, 0},
#define ABSENT_OPTION(name, argument, accepted, instead)                                           \
    {name, ABSENT, argument, OPTION_HIDDEN, NULL, 0},
    ABSENT_MAP(ABSENT_OPTION)
#undef ABSENT_OPTION
        {0}};

static void wrong(struct vprof_options *o, const char *option, const char *expected,
                  const char *got, const char *what)
{
    if (o->err.code)
        return;
    st_fail(&o->err, ST_USAGE, "%s", what);
    st_detail(&o->err, ST_WHERE, "%s", option);
    st_detail(&o->err, ST_EXPECTED, "%s", expected);
    st_detail(&o->err, ST_GOT, "%s", got);
}

static void take_device(struct vprof_options *o, const char *arg)
{
    if (strncmp(arg, "virtual", 7) == 0 && (arg[7] == '\0' || (arg[7] == ':' && arg[8]))) {
        o->device = VPROF_VIRTUAL;
        o->profile = arg[7] ? arg + 8 : NULL;
    } else if (strcmp(arg, "gpu") == 0) {
        o->device = VPROF_GPU;
    } else if (strcmp(arg, "auto") == 0) {
        o->device = VPROF_AUTO;
    } else {
        wrong(o, "--device", "auto, gpu, virtual or virtual:GPU", arg, "there is no such device");
    }
}

static void take_export(struct vprof_options *o, const char *arg)
{
    o->chrome = true;
    if (strncmp(arg, "chrome", 6) == 0 && (arg[6] == '\0' || (arg[6] == ':' && arg[7])))
        o->chrome_path = arg[6] ? arg + 7 : "vprof-trace.json";
    else
        wrong(o, "--export", "chrome or chrome:FILE", arg, "unknown format of a timeline");
}

static bool take_switch(struct vprof_options *o, const char *option, const char *arg)
{
    if (strcmp(arg, "on") != 0 && strcmp(arg, "off") != 0)
        wrong(o, option, "on or off", arg, "this option is on or off");
    return strcmp(arg, "off") == 0;
}

static void take_timeout(struct vprof_options *o, const char *arg)
{
    char *end;
    const unsigned long seconds = strtoul(arg, &end, 10);
    if (*end || end == arg || seconds < 1 || seconds > 1000000)
        wrong(o, "--timeout", "a number of seconds", arg, "this is no time");
    o->timeout_s = (unsigned)seconds;
}

/* The options of nvprof's that are not here share a key; which one it was, argv says. */
static void take_absent(struct vprof_options *o, const struct argp_state *state, const char *value)
{
    for (int i = state->next - 1; i > 0 && i > state->next - 3; i--)
        for (size_t k = 0; k < sizeof absent / sizeof *absent; k++) {
            const size_t n = strlen(absent[k].name);
            const char *arg = state->argv[i];
            if (o->err.code || strncmp(arg, "--", 2) != 0 ||
                strncmp(arg + 2, absent[k].name, n) != 0 || (arg[n + 2] && arg[n + 2] != '='))
                continue;
            if (value && absent[k].accepted && strcmp(value, absent[k].accepted) == 0)
                return;
            st_fail(&o->err, ST_USAGE, "vprof does not have nvprof's option --%s", absent[k].name);
            st_detail(&o->err, ST_HINT, "%s", absent[k].instead);
        }
    if (!o->err.code)
        st_fail(&o->err, ST_USAGE, "vprof does not have this option of nvprof's: %s",
                state->argv[state->next - 1]);
}

static error_t option_take(int key, char *arg, struct argp_state *state)
{
    struct vprof_options *o = state->input;
    switch (key) {
    case GPU_TRACE:
        o->gpu_trace = true;
        break;
    case API_TRACE:
        o->api_trace = true;
        break;
    case GPU_SUMMARY:
        o->gpu_summary = true;
        break;
    case API_SUMMARY:
        o->api_summary = true;
        break;
    case 's':
        o->gpu_summary = o->api_summary = true;
        break;
    case CSV:
        o->csv = true;
        break;
    case 'u':
        if (!figure_time_choose(arg))
            wrong(o, "--normalized-time-unit", "s, ms, us, ns, col or auto", arg,
                  "there is no such unit of time");
        break;
    case LOG:
        o->log = arg;
        break;
    case 'm':
        if (!o->err.code)
            metrics_choose(&o->metrics, arg, false, &o->err);
        break;
    case 'e':
        if (!o->err.code)
            metrics_choose(&o->events, arg, true, &o->err);
        break;
    case QUERY_METRICS:
        o->query_metrics = true;
        break;
    case QUERY_EVENTS:
        o->query_events = true;
        break;
    case KERNELS:
        o->kernels = arg;
        break;
    case ANALYSIS:
        o->analysis = true;
        break;
    case COUNTERS:
        o->counters = arg;
        break;
    case TIME:
        o->time = arg;
        break;
    case WRAPPER:
        o->wrapper = arg;
        break;
    case 'o':
        o->keep = arg;
        break;
    case 'f':
        o->force = true;
        break;
    case 'i':
        o->import = arg;
        break;
    case 'q':
        o->quiet = true;
        break;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        break;
    case 'a':
        if (!o->err.code) {
            st_fail(&o->err, ST_USAGE, "vprof does not have nvprof's option -a");
            st_detail(&o->err, ST_HINT, "use --analysis: it ranks the source lines");
        }
        break;
    case 'V':
        o->version = true;
        break;
    case 't':
        take_timeout(o, arg);
        break;
    case CHROME:
        take_export(o, arg);
        break;
    case DEVICE:
        take_device(o, arg);
        break;
    case CORES:
        o->cores = arg;
        break;
    case FROM_START:
        o->range_only = take_switch(o, "--profile-from-start", arg);
        break;
    case DEMANGLING:
        o->mangled = take_switch(o, "--demangling", arg);
        break;
    case CONCURRENT:
        o->serial = take_switch(o, "--concurrent-kernels", arg);
        o->concurrent = !o->serial;
        break;
    case CHILDREN:
        break;
    case ABSENT:
        take_absent(o, state, arg);
        break;
    case ARGP_KEY_ARG:
        o->program = state->argv + state->next - 1;
        state->next = state->argc;
        break;
    case ARGP_KEY_END:
        if (!o->program && !o->import && !o->query_metrics && !o->query_events && !o->version &&
            !o->err.code)
            argp_error(state, "no program was given");
        if (o->program && o->import)
            argp_error(state, "a program and --import-profile exclude each other");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void vprof_options_read(struct vprof_options *o, int argc, char **argv)
{
    const struct argp parser = {
        options,
        option_take,
        "PROGRAM [ARGUMENT...]",
        "Profiles a CUDA program and prints what nvprof printed: on this machine's GPU, or on the "
        "virtual one, for which the program must be linked with nvcc -cudart shared.\v"
        "Tables go to stderr, or to --log-file. The exit status is the program's; when a signal "
        "ends it, what was seen until then is printed, and vprof ends by the same signal.",
        NULL,
        NULL,
        NULL};
    *o = (struct vprof_options){.program = NULL};
    argp_err_exit_status = PROGRAM_NOT_STARTED;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, o);
}
