/* `ncu --page details`: a table per section of each launch. */
#include "vprof/ncu_values.h"
#include "vprof/nsight.h"
#include "vprof/nsight_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 4096

struct page {
    FILE *out;
    enum ncu_format format;
    struct ncu_run run, baseline;             /* baseline.trace: NULL: none */
    const struct tr_row **launches, **before; /* kernels by start time; the baseline's kernels */
    const struct tr_row **paired; /* for each launch: the launch to compare it with, or NULL */
    size_t n, before_n;
    struct nsight_table csv;
};

/* The program's name, without folders and arguments. */
static void program_of(const struct tr_trace *t, char *to, size_t room)
{
    const size_t n = strcspn(t->command, " ");
    const char *start = t->command + n;
    while (start > t->command && start[-1] != '/')
        start--;
    snprintf(to, room, "%.*s", (int)(t->command + n - start), start);
}

static int process_of(const struct page *p, const struct tr_row *row)
{
    return row->client <= 1 && p->run.trace->pid > 0 ? p->run.trace->pid : tr_context(row);
}

static void capability_of(const struct ncu_run *run, char to[16])
{
    const int said = (int)tr_limit(run->trace, "compute_capability");
    snprintf(to, 16, "n/a");
    if (run->gpu)
        snprintf(to, 16, "%d.%d", run->gpu->compute_major, run->gpu->compute_minor);
    else if (said)
        snprintf(to, 16, "%d.%d", said / 10, said % 10);
}

/* ---- the launch to compare with ------------------------------------------------------------- */

/* The position of a launch among its kernel's launches. */
struct turn {
    const char *name;
    size_t turn, at; /* at: among all launches */
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* @return the positions of launches by kernel and turn; NULL: out of memory */
static struct turn *turns_of(const struct tr_row *const *launches, size_t n)
{
    struct turn *turns = calloc(n + 1, sizeof *turns);
    for (size_t i = 0; turns && i < n; i++)
        turns[i] = (struct turn){.name = launches[i]->name, .at = i};
    if (turns)
        qsort(turns, n, sizeof *turns, by_turn);
    for (size_t i = 1; turns && i < n; i++)
        if (strcmp(turns[i].name, turns[i - 1].name) == 0)
            turns[i].turn = turns[i - 1].turn + 1;
    return turns;
}

/* Pairs each launch with the baseline's launch of the same kernel and turn. If the baseline lacks
 * the kernel, pairs it with the baseline's launch at the same position; NULL if none exists. Both
 * lists of turns have the same order. */
static void pair(struct page *p, const struct turn *now, const struct turn *then)
{
    for (size_t i = 0, k = 0; i < p->n; i++) {
        while (k < p->before_n && strcmp(then[k].name, now[i].name) < 0)
            k++;
        const bool has_kernel = k < p->before_n && strcmp(then[k].name, now[i].name) == 0;
        const size_t same = k + now[i].turn;
        const struct tr_row **to = &p->paired[now[i].at];
        if (has_kernel && same < p->before_n && strcmp(then[same].name, now[i].name) == 0)
            *to = p->before[then[same].at];
        else if (!has_kernel && now[i].at < p->before_n)
            *to = p->before[now[i].at];
    }
}

/* @return false: out of memory */
static bool pair_with_baseline(struct page *p)
{
    struct turn *now = turns_of(p->launches, p->n), *then = turns_of(p->before, p->before_n);
    if (now && then)
        pair(p, now, then);
    const bool good = now && then;
    free(now);
    free(then);
    return good;
}

/* The metrics of a launch, and of the launch compared with it. */
struct compared {
    struct ncu_value now[NCU_VALUES_MAX], then[NCU_VALUES_MAX];
    size_t n, then_n;
};

static void compare(const struct page *p, size_t at, const struct tr_row *old, struct compared *to)
{
    to->n = ncu_values_of(p->run.trace, p->launches[at], p->run.gpu, to->now);
    to->then_n = old ? ncu_values_of(p->baseline.trace, old, p->baseline.gpu, to->then) : 0;
}

/* @return the baseline's value of a metric, or NULL */
static const struct ncu_value *old_of(const struct compared *c, const struct ncu_value *v)
{
    for (size_t i = 0; i < c->then_n; i++)
        if (c->then[i].section == v->section && strcmp(c->then[i].label, v->label) == 0)
            return &c->then[i];
    return NULL;
}

/* Writes the change as "+12.34%", or "" if a value is unknown. */
static void change_text(char to[32], const struct ncu_value *now, const struct ncu_value *old)
{
    *to = '\0';
    if (!old || isnan(now->number) || isnan(old->number))
        return;
    if (old->number == 0)
        snprintf(to, 32, "%s", now->number == 0 ? "+0.00%" : "+inf%");
    else
        snprintf(to, 32, "%+.2f%%", 100 * (now->number - old->number) / fabs(old->number));
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_rule(FILE *out, const size_t *width, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        fputs(i ? " " : "    ", out);
        for (size_t k = 0; k < width[i]; k++)
            fputc('-', out);
    }
    fputc('\n', out);
}

/* Labels are left-aligned, units and values right-aligned. */
static void print_table(FILE *out, const struct nsight_table *t)
{
    size_t width[NSIGHT_COLUMNS_MAX];
    nsight_widths(t, width);
    print_rule(out, width, t->columns);
    for (size_t i = 0; i < t->cells; i++) {
        const size_t column = i % t->columns;
        fprintf(out, column ? " %*s" : "    %-*s", (int)width[column], t->cell[i]);
        if (column + 1 == t->columns)
            fputc('\n', out);
        if (i + 1 == t->columns)
            print_rule(out, width, t->columns);
    }
    print_rule(out, width, t->columns);
    fputc('\n', out);
}

/* Prints a section, which begins at value @p v. @return the next section's first value */
static const struct ncu_value *print_section(FILE *out, const struct compared *c,
                                             const struct ncu_value *v, bool *good)
{
    struct nsight_table t = {.columns = 3};
    const enum ncu_section section = v->section;
    nsight_cell(&t, "Metric Name");
    nsight_cell(&t, "Metric Unit");
    nsight_cell(&t, "Metric Value");
    for (; v < c->now + c->n && v->section == section; v++) {
        char change[32];
        change_text(change, v, old_of(c, v));
        nsight_cell(&t, "%s", v->label);
        nsight_cell(&t, "%s", v->unit);
        nsight_cell(&t, *change ? "%s (%s)" : "%s%s", v->text, change);
    }
    fprintf(out, "    Section: %s\n", ncu_titles[section]);
    *good = *good && !t.no_memory;
    if (!t.no_memory)
        print_table(out, &t);
    nsight_table_free(&t);
    return v;
}

static void print_title(const struct page *p, const char *mark, const struct ncu_run *run,
                        const struct tr_row *row)
{
    char name[NAME_BYTES_MAX], capability[16];
    nsight_name(name, sizeof name, row->name);
    capability_of(run, capability);
    fprintf(p->out,
            "  %s%s (%u, %u, %u)x(%u, %u, %u), Context %d, Stream %" PRIu64 ", Device %d, CC %s\n",
            mark, name, row->grid[0], row->grid[1], row->grid[2], row->block[0], row->block[1],
            row->block[2], tr_context(row), row->stream_number, row->device, capability);
}

static bool print_launch(struct page *p, size_t at)
{
    const struct tr_row *old = p->paired[at];
    struct compared c;
    bool good = true;
    compare(p, at, old, &c);
    print_title(p, "", &p->run, p->launches[at]);
    if (old)
        print_title(p, "Baseline: ", &p->baseline, old);
    for (const struct ncu_value *v = c.now; v < c.now + c.n;)
        v = print_section(p->out, &c, v, &good);
    return good;
}

static void print_text(struct page *p, bool *good)
{
    char program[256];
    program_of(p->run.trace, program, sizeof program);
    for (size_t i = 0; i < p->n; i++) {
        const int process = process_of(p, p->launches[i]);
        if (i == 0 || process != process_of(p, p->launches[i - 1]))
            fprintf(p->out, "[%d] %s@127.0.0.1\n", process, program);
        *good = print_launch(p, i) && *good;
    }
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* In rows of metrics, ncu's columns for rules are empty. */
enum { METRIC_COLUMNS = 15, BASELINE_COLUMNS = 17 };

static void print_header(FILE *out, bool baseline)
{
    static const char names[] =
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\","
        "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\","
        "\"Metric Name\",\"Metric Unit\",\"Metric Value\",";
    fprintf(out, "%s%s\n", names,
            baseline ? "\"Baseline Value\",\"Baseline Change\""
                     : "\"Rule Name\",\"Rule Type\",\"Rule Description\","
                       "\"Estimated Speedup Type\",\"Estimated Speedup\"");
}

/* A cell with a value. @param room  for the text in the base unit */
static const char *value_cell(const struct page *p, const struct ncu_value *v, char room[48])
{
    if (p->format != NCU_CSV_BASE || v->unit == v->base_unit)
        return v->text;
    nsight_number(room, 48, v->number == floor(v->number) ? 0 : 2, v->number);
    return room;
}

static void add_value(struct page *p, size_t at, const char *program, const struct ncu_value *v,
                      const struct ncu_value *old)
{
    const struct tr_row *row = p->launches[at];
    char name[NAME_BYTES_MAX], capability[16], change[32], number[48];
    nsight_name(name, sizeof name, row->name);
    capability_of(&p->run, capability);
    change_text(change, v, old);
    nsight_cell(&p->csv, "%zu", at);
    nsight_cell(&p->csv, "%d", process_of(p, row));
    nsight_cell(&p->csv, "%s", program);
    nsight_cell(&p->csv, "127.0.0.1");
    nsight_cell(&p->csv, "%s", name);
    nsight_cell(&p->csv, "%d", tr_context(row));
    nsight_cell(&p->csv, "%" PRIu64, row->stream_number);
    nsight_cell(&p->csv, "(%u, %u, %u)", row->block[0], row->block[1], row->block[2]);
    nsight_cell(&p->csv, "(%u, %u, %u)", row->grid[0], row->grid[1], row->grid[2]);
    nsight_cell(&p->csv, "%d", row->device);
    nsight_cell(&p->csv, "%s", capability);
    nsight_cell(&p->csv, "%s", ncu_titles[v->section]);
    nsight_cell(&p->csv, "%s", v->label);
    nsight_cell(&p->csv, "%s", p->format == NCU_CSV_BASE ? v->base_unit : v->unit);
    nsight_cell(&p->csv, "%s", value_cell(p, v, number));

    if (!p->baseline.trace)
        return;
    nsight_cell(&p->csv, "%s", old ? value_cell(p, old, number) : "");
    nsight_cell(&p->csv, "%s", change);
}

static void print_csv(struct page *p, bool *good)
{
    char program[256];
    program_of(p->run.trace, program, sizeof program);
    p->csv.columns = p->baseline.trace ? BASELINE_COLUMNS : METRIC_COLUMNS;
    for (size_t i = 0; i < p->n; i++) {
        struct compared c;
        compare(p, i, p->paired[i], &c);
        for (size_t k = 0; k < c.n; k++)
            add_value(p, i, program, &c.now[k], old_of(&c, &c.now[k]));
    }
    *good = !p->csv.no_memory;
    if (*good)
        print_header(p->out, p->baseline.trace);
    for (size_t i = 0; *good && i < p->csv.cells / p->csv.columns; i++)
        nsight_csv_row(p->out, &p->csv, i, true, p->baseline.trace ? "\n" : ",\n");
    nsight_table_free(&p->csv);
}

enum st_code ncu_print(FILE *out, const struct ncu_run *run, const struct ncu_run *baseline,
                       enum ncu_format format, struct st_error *err)
{
    struct page p = {.out = out, .format = format, .run = *run};
    bool good = true;
    p.launches = tr_select(run->trace, tr_is_kernel, tr_by_start, &p.n);
    if (baseline)
        p.baseline = *baseline;
    p.paired = calloc(p.n + 1, sizeof *p.paired);
    if (baseline)
        p.before = tr_select(baseline->trace, tr_is_kernel, tr_by_start, &p.before_n);
    if (!p.launches || !p.paired || (baseline && (!p.before || !pair_with_baseline(&p))))
        good = false;
    else if (p.n == 0)
        fprintf(out, "No kernels were profiled.\n");
    else if (format != NCU_TEXT)
        print_csv(&p, &good);
    else
        print_text(&p, &good);
    free(p.launches);
    free(p.before);
    free(p.paired);
    return good ? ST_OK
                : st_fail(err, ST_NO_MEMORY, "out of memory for the page of %zu launches", p.n);
}
