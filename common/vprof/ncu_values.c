/* A metric's value is the trace's column with ncu's name (on a real GPU, recorded with --style
 * ncu), or is computed by ncu_sections.def from the model. */
#include "vprof/ncu_values.h"

#include "vprof/ncu_parts.h"
#include "vprof/nsight_table.h"

#include "vgpu/probe/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of the expressions in ncu_sections.def. Unknown values are NAN or 0. */
struct ncu_launch {
    const struct tr_trace *trace;
    const struct tr_row *row;
    const struct tr_counters *c;
    const struct vg_profile *gpu; /* all 0 if unknown */
    double ns, blocks, threads, warps, warps_max, multiprocessors;
    struct vg_clock_limits limits;
};

static double part(double of, double whole)
{
    return whole > 0 ? of / whole : NAN;
}

static double known(double value)
{
    return value > 0 ? value : NAN;
}

/* @return @p value for a launch with a modelled time, else NAN. */
static double modelled(const struct ncu_launch *l, double value)
{
    return l->row->modelled ? value : NAN;
}

/* @return @p value if the trace has the counter's column, else NAN. */
static double counted(const struct ncu_launch *l, const char *counter, double value)
{
    return *tr_text(l->trace, l->row, counter) ? value : NAN;
}

/* How long the busiest of several resources was busy, in percent of the time. */
static double busy(const struct ncu_launch *l, enum vg_term first, enum vg_term last)
{
    double most = 0;
    for (int i = (int)first; i <= (int)last; i++)
        most = fmax(most, l->row->term_ns[i]);
    return modelled(l, 100 * fmin(1, part(most, l->ns)));
}

static double dram_rate(const struct ncu_launch *l)
{
    return l->row->dram_bytes >= 0 ? part(l->row->dram_bytes * 1e9, l->ns) : NAN;
}

/* DRAM traffic in percent of the pins' capacity, which is two transfers per clock. */
static double dram_busy(const struct ncu_launch *l)
{
    const double pins = 2 * l->gpu->memory_clock_hz * l->gpu->memory_bus_bits / 8;
    return modelled(l, 100 * part(dram_rate(l), pins));
}

/* Instructions issued by a scheduler per clock. */
static double issued(const struct ncu_launch *l)
{
    return busy(l, VG_TERM_ISSUE, VG_TERM_ISSUE) / 100;
}

/* Average number of warps on a multiprocessor. */
static double active_warps(const struct ncu_launch *l)
{
    return l->trace->theoretical_occupancy ? NAN : known(l->row->occupancy * l->warps_max);
}

static struct ncu_launch launch_of(const struct tr_trace *trace, const struct tr_row *row,
                                   const struct vg_profile *gpu)
{
    static const struct vg_profile none;
    struct ncu_launch l = {.trace = trace,
                           .row = row,
                           .c = &row->counters,
                           .gpu = gpu ? gpu : &none,
                           .ns = (double)tr_ns(row),
                           .blocks = tr_blocks(row),
                           .threads = tr_threads(row),
                           .warps_max = tr_limit(trace, "warps_per_multiprocessor"),
                           .multiprocessors = tr_limit(trace, "multiprocessors")};
    l.warps = ceil(l.threads / 32);
    if (!gpu)
        return l;
    l.warps_max = gpu->max_threads_per_multiprocessor / 32;
    l.multiprocessors = gpu->multiprocessors;
    l.limits = vg_clock_limits(gpu, (uint32_t)l.threads, row->registers,
                               (size_t)(row->static_shared_bytes + row->dynamic_shared_bytes));
    return l;
}

/* ---- units ---------------------------------------------------------------------------------- */

/* Units from the smallest to the largest. A value is shown in the largest unit in which it is at
 * least 1. */
struct unit {
    const char *name;
    double scale;
};

#define UNITS(name, ...) static const struct unit name[] = {__VA_ARGS__, {NULL, 0}}
UNITS(NONE, {"", 1});
UNITS(PERCENT, {"%", 1});
UNITS(CYCLES, {"cycle", 1});
UNITS(NS, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9});
UNITS(HZ, {"hz", 1}, {"Khz", 1e3}, {"Mhz", 1e6}, {"Ghz", 1e9});
UNITS(BYTES, {"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6});
UNITS(BYTES_PER_S, {"byte/s", 1}, {"Kbyte/s", 1e3}, {"Mbyte/s", 1e6}, {"Gbyte/s", 1e9},
      {"Tbyte/s", 1e12});
UNITS(BYTES_PER_BLOCK, {"byte/block", 1}, {"Kbyte/block", 1e3});
UNITS(REGISTERS, {"register/thread", 1});
UNITS(WARPS, {"warp", 1});
UNITS(THREADS, {"thread", 1});
UNITS(BLOCKS, {"block", 1});
UNITS(CLUSTERS, {"cluster", 1});
UNITS(MULTIPROCESSORS, {"SM", 1});
UNITS(INSTRUCTIONS, {"inst", 1});
UNITS(BRANCHES, {"branches", 1});
UNITS(SECTORS, {"sector", 1});

/* Whole numbers have no decimals; other numbers have two. */
static void show(struct ncu_value *to, const struct unit *unit, double value)
{
    to->number = isfinite(value) ? value : NAN;
    to->unit = to->base_unit = unit->name;
    snprintf(to->text, sizeof to->text, "n/a");
    if (!isfinite(value))
        return;
    while (unit[1].name && value >= unit[1].scale)
        unit++;
    value /= unit->scale;
    to->unit = unit->name;
    nsight_number(to->text, sizeof to->text, value == floor(value) ? 0 : 2, value);
}

/* Gets ncu's measurement. @return false if the trace lacks it */
static bool recorded(const struct ncu_launch *l, const char *metrics, const struct unit *unit,
                     struct ncu_value *to)
{
    char metric[128], *end;
    const char *cell = "";
    while (!*cell && ncu_next_name(&metrics, metric))
        cell = tr_text(l->trace, l->row, metric);
    const double number = strtod(cell, &end);
    if (!*cell)
        return false;
    show(to, unit, *end ? NAN : number);
    if (*end)
        snprintf(to->text, sizeof to->text, "%s", cell);
    return true;
}

/* ---- metrics -------------------------------------------------------------------------------- */

bool ncu_next_name(const char **at, char name[128])
{
    const size_t n = strcspn(*at, "|");
    if (n == 0 || n > 127)
        return false;
    snprintf(name, 128, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '|');
    return true;
}

const char *const ncu_titles[] = {
#define SECTION(identifier, title) title,
#define METRIC(...)
#include "vprof/ncu_sections.def"
};

const char *const ncu_identifiers[] = {
#define SECTION(identifier, title) #identifier,
#define METRIC(...)
#include "vprof/ncu_sections.def"
    NULL};

const char *const ncu_metrics[] = {
#define SECTION(...)
#define METRIC(label, unit, metric, value) metric,
#include "vprof/ncu_sections.def"
    NULL};

size_t ncu_values_of(const struct tr_trace *trace, const struct tr_row *row,
                     const struct vg_profile *gpu, struct ncu_value to[NCU_VALUES_MAX])
{
    const struct ncu_launch launch = launch_of(trace, row, gpu), *const l = &launch;
    const double capability =
        gpu ? 10 * gpu->compute_major + gpu->compute_minor : tr_limit(trace, "compute_capability");
    enum ncu_section section = 0;
    size_t n = 0;
#define SECTION(identifier, title) section = NCU_SECTION_##identifier;
#define METRIC(name, in, metric, value)                                                            \
    to[n] = (struct ncu_value){.section = section, .label = name};                                 \
    if (!recorded(l, metric, in, &to[n]))                                                          \
        show(&to[n], in, value);                                                                   \
    n++;
#define METRIC_FROM(least, name, in, metric, value)                                                \
    if (capability >= least) {                                                                     \
        METRIC(name, in, metric, value)                                                            \
    }
#define METRIC_80(name, in, metric, value) METRIC_FROM(80, name, in, metric, value)
#define METRIC_90(name, in, metric, value) METRIC_FROM(90, name, in, metric, value)
#include "vprof/ncu_sections.def"
    return n;
}
