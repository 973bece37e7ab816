/* vgpu-engines: runs random programs in two ways and compares all observable results.
 *
 *     vgpu-engines [--seed N] [--count N] [--seconds S] [--a VARIANT] [--b VARIANT,...]
 *     vgpu-engines --plant all               proves that planted mistakes are found
 *     vgpu-engines CASE.ptx...               compares these cases (engine_case.h)
 *     vgpu-engines --mutations N CASE.ptx... runs them changed at random: the process must survive
 *
 * A case that differs is shrunk and written to --keep FOLDER. Exit status 1 if a case differs. */
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "vgpu/device/native_library.h"
#include "vgpu/ptx/ptx_ir.h"
#include "vgpu/tests/engines/engine_mutate.h"
#include "vgpu/tests/engines/engine_plants.h"
#include "vgpu/tests/engines/engine_process.h"
#include "vgpu/tests/engines/engine_shrink.h"
#include "vgpu/tests/engines/engine_variant.h"
#include "vgpu/tests/engines/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    FAILURES_MOST = 8,
    SHRINK_SECONDS = 60,
    HOSTILE_SECONDS = 2,
    VARIANTS_MOST = 8,
    FILES_MOST = 4096,
    FILE_BYTES_MOST = 1 << 24
};

struct options {
    uint64_t seed, count, seconds, mutations;
    const char *a, *b, *keep;
    const char *plant;
    bool table, print;
    const char *files[FILES_MOST];
    size_t file_count;
};

struct engines {
    struct options options;
    struct variant a, b[VARIANTS_MOST];
    size_t b_count;
    const struct engine_plant *plant; /* the mistake in B's text, or NULL */
    unsigned char executed[IR_OPS];
    size_t cases, found, faulted, cut, translated, differing;
};

/* ---- comparing -------------------------------------------------------------------------------- */

/* Finds the first B that differs from A. @return the difference, malloc'd, with the index of B in
 * *which; NULL: all are equal. */
struct comparison {
    char *difference;
    size_t which;
    bool has_findings, has_ended, is_cut;
};

static struct outcome run_text(const struct variant *v, const char *text)
{
    struct engine_case c;
    if (!case_read(&c, text))
        return (struct outcome){.is_refused = true, .text = strdup("a comment cannot be read\n")};
    return variant_run(v, &c);
}

static void look(struct engines *e, struct comparison *to, const struct outcome *a)
{
    to->has_findings = a->text && strstr(a->text, "\nfinding 0") != NULL;
    to->has_ended = a->text && strstr(a->text, "\nfaulted 1 ") != NULL;
    to->is_cut = a->is_cut;
    for (int i = 0; a->executed && i < IR_OPS; i++)
        e->executed[i] |= a->executed[i];
}

static struct comparison compare(struct engines *e, const char *text, bool must_load)
{
    struct comparison to = {0};
    struct outcome a = run_text(&e->a, text);
    look(e, &to, &a);
    if ((a.is_refused && must_load) || a.is_dead)
        to.difference = strdup(a.text);
    char *planted = e->plant ? engine_plant_apply(e->plant, text) : NULL;
    for (size_t i = 0; i < e->b_count && !to.difference && !to.is_cut; i++) {
        struct outcome b = run_text(&e->b[i], planted ? planted : text);
        to.which = i;
        to.is_cut = b.is_cut;
        e->translated += b.translated;
        if (!to.is_cut && !(planted && b.is_refused))
            to.difference = outcome_difference(&a, &b);
        outcome_free(&b);
    }
    free(planted);
    outcome_free(&a);
    return to;
}

/* A case whose outcome differs between one and two cores of an engine has a race. */
static bool still_differs(const char *text, void *context)
{
    struct engines *e = context;
    struct variant other_cores = e->a;
    other_cores.cores = e->b[0].cores == e->a.cores ? e->a.cores + 1 : e->b[0].cores;
    struct outcome a = run_text(&e->a, text), again = run_text(&other_cores, text),
                   b = run_text(&e->b[0], text);
    char *noise = outcome_difference(&a, &again);
    char *difference =
        a.is_refused || a.is_cut || b.is_cut || noise ? NULL : outcome_difference(&a, &b);
    const bool differs = difference != NULL;
    outcome_free(&a);
    outcome_free(&again);
    outcome_free(&b);
    free(noise);
    free(difference);
    return differs;
}

/* ---- a case that differs ---------------------------------------------------------------------- */

static void write_case(const struct engines *e, const char *title, const char *kind,
                       const char *text)
{
    struct st_error err = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s.ptx", e->options.keep, title, kind);
    if (dir_make(e->options.keep, &err) == ST_OK &&
        file_write(path, text, strlen(text), &err) == ST_OK)
        printf("  %s\n", path);
    else
        fprintf(stderr, "vgpu-engines: %s\n", err.what);
}

static void report(struct engines *e, const char *title, const char *text,
                   const struct comparison *c)
{
    e->differing++;
    char a[40], b[40];
    printf("DIFFERENT: %s: A %s, B %s\n%s", title, variant_name(&e->a, a),
           variant_name(&e->b[c->which], b), c->difference);
    write_case(e, title, "", text);
    struct engines one = {.a = e->a, .b = {e->b[c->which]}, .b_count = 1};
    char *small = case_shrink(text, still_differs, &one, SHRINK_SECONDS);
    write_case(e, title, "-small", small);
    free(small);
    fflush(stdout);
}

static void check_case(struct engines *e, const char *title, const char *text, bool must_load)
{
    struct comparison c = compare(e, text, must_load);
    e->cases++;
    e->found += c.has_findings;
    e->faulted += c.has_ended;
    e->cut += c.is_cut;
    if (c.difference)
        report(e, title, text, &c);
    free(c.difference);
}

/* ---- running -------------------------------------------------------------------------------- */

static void run_seeds(struct engines *e)
{
    const double start = clock_now_s();
    for (uint64_t i = 0; i < e->options.count && e->differing < FAILURES_MOST; i++) {
        if (e->options.seconds && clock_now_s() - start > (double)e->options.seconds)
            break;
        char title[40];
        snprintf(title, sizeof title, "seed-%llu", (unsigned long long)(e->options.seed + i));
        char *text = generate(e->options.seed + i);
        check_case(e, title, text, true);
        free(text);
    }
}

/* Only the last B runs randomly changed code, which may do anything except end the process. */
static void run_mutations(struct engines *e, const char *name, const char *text)
{
    struct variant v = e->b[e->b_count - 1];
    v.seconds = HOSTILE_SECONDS;
    for (uint64_t i = 0; i < e->options.mutations; i++) {
        char *changed = case_mutate(text, e->options.seed + i), title[200];
        struct outcome o = run_text(&v, changed);
        e->cases++;
        e->cut += o.is_cut;
        e->translated += o.translated;
        if (o.is_dead) {
            e->differing++;
            printf("DEAD: %s, mutation %llu: %s", name, (unsigned long long)(e->options.seed + i),
                   o.text);
            snprintf(title, sizeof title, "%.100s-mutation-%llu", name,
                     (unsigned long long)(e->options.seed + i));
            write_case(e, title, "", changed);
        }
        outcome_free(&o);
        free(changed);
    }
}

static void run_file(struct engines *e, const char *path)
{
    struct st_error err = {0};
    char *text = NULL;
    size_t bytes;
    if (file_read(path, FILE_BYTES_MOST, &text, &bytes, &err) != ST_OK) {
        fprintf(stderr, "vgpu-engines: %s\n", err.what);
        e->differing++;
        return;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (e->options.mutations)
        run_mutations(e, name, text);
    else
        check_case(e, name, text, false);
    free(text);
}

/* Runs programs until one shows the planted mistake, which is in the programs' text or (plant NULL)
 * in the translator. */
static bool run_plant(struct engines *e, const char *name, const struct engine_plant *plant)
{
    e->plant = plant;
    bool found = false;
    size_t with = 0;
    for (uint64_t i = 0; i < e->options.count && !found; i++) {
        char *text = generate(e->options.seed + i);
        char *planted = plant ? engine_plant_apply(plant, text) : NULL;
        if (planted || !plant) {
            struct comparison c = compare(e, text, true);
            found = c.difference != NULL;
            free(c.difference);
            with++;
        }
        free(planted);
        free(text);
    }
    printf("%s: %s after %zu programs\n", name, found ? "found" : "NOT FOUND", with);
    fflush(stdout);
    return found;
}

static bool is_wanted(const struct engines *e, const char *name)
{
    const char *wanted = e->options.plant;
    return strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0 ||
           (strcmp(wanted, "translator") == 0 && strncmp(name, "translator:", 11) == 0);
}

static int run_plants(struct engines *e)
{
    size_t found = 0, count = 0;
    for (size_t i = 0; i < engine_plant_count; i++)
        if (is_wanted(e, engine_plants[i].name)) {
            found += run_plant(e, engine_plants[i].name, &engine_plants[i]);
            count++;
        }
    e->b_count = 1;
    variant_read(&e->b[0], "avx512:1:native");
    for (size_t i = 0; native_library_exists() && i < engine_spoil_count; i++)
        if (is_wanted(e, engine_spoils[i].name)) {
            variant_spoil(&engine_spoils[i]);
            found += run_plant(e, engine_spoils[i].name, NULL);
            count++;
        }
    printf("%zu planted mistakes, %zu found\n", count, found);
    return found != count || !count;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void print_table(const struct engines *e)
{
    int count = 0;
    for (int i = 0; i < IR_OPS; i++)
        count += e->executed[i];
    printf("%d of %d rows of opcodes.def were executed; not:\n", count, (int)IR_OPS);
    for (int i = 0; i < IR_OPS; i++)
        if (!e->executed[i])
            printf("  %s (%s %s)\n", ir_rows[i].id, ir_rows[i].base, ir_rows[i].required);
}

static double cpu_seconds(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
                    children.ru_stime.tv_sec);
}

static void print_summary(const struct engines *e)
{
    printf("%zu programs, %zu with findings, %zu ended by one, %zu cut short; %zu places "
           "translated; %zu different (%.0f CPU seconds)\n",
           e->cases, e->found, e->faulted, e->cut, e->translated, e->differing, cpu_seconds());
}

/* ---- options ---------------------------------------------------------------------------------- */

static void take_file(void *to, char *text, const struct option_row *row, struct argp_state *state)
{
    struct options *o = to;
    (void)row;
    if (o->file_count == FILES_MOST)
        argp_error(state, "at most %d files", FILES_MOST);
    o->files[o->file_count++] = text;
}

static const struct option_row rows[] = {
    {"seed", 's', "N", "seed of the first program (default: 1)",
     OPTION_NUMBER(struct options, seed, 0, UINT64_MAX)},
    {"count", 'n', "N", "number of programs (default: as many as the time allows)",
     OPTION_NUMBER(struct options, count, 0, UINT64_MAX)},
    {"seconds", 't', "S", "time limit in seconds (default: none)",
     OPTION_NUMBER(struct options, seconds, 0, 1000000)},
    {"a", 'a', "VARIANT", "TARGET[:CORES[:ENGINE]] to compare with (default: base)",
     OPTION_TEXT(struct options, a)},
    {"b", 'b', "VARIANT,...",
     "variants to compare with it (default: avx2:2,avx512, and avx512:2:native,avx2:1:auto if a translator exists)",
     OPTION_TEXT(struct options, b)},
    {"keep", 'k', "FOLDER", "folder for the cases that differ (default: build/engines)",
     OPTION_TEXT(struct options, keep)},
    {"plant", 'p', "NAME", "prove that a planted mistake is found, or (all, translator) every one",
     OPTION_TEXT(struct options, plant)},
    {"mutations", 'm', "N", "change each CASE N times at random: nothing may end the process",
     OPTION_NUMBER(struct options, mutations, 1, 100000000)},
    {"table", 'T', NULL, "print which instructions were not executed",
     OPTION_FLAG(struct options, table)},
    {"print", 'P', NULL, "print the program of a seed, and run nothing",
     OPTION_FLAG(struct options, print)},
    {OPTION_OPERANDS(take_file)},
    {0}};

static bool read_variants(struct engines *e)
{
    char list[256];
    const char *all =
        native_library_exists() ? "avx2:2,avx512,avx512:2:native,avx2:1:auto" : "avx2:2,avx512";
    snprintf(list, sizeof list, "%s", e->options.b ? e->options.b : all);
    bool good = variant_read(&e->a, e->options.a);
    for (char *save, *v = strtok_r(list, ",", &save); v; v = strtok_r(NULL, ",", &save))
        good = good && e->b_count < VARIANTS_MOST && variant_read(&e->b[e->b_count++], v);
    return good && e->b_count;
}

int main(int argc, char **argv)
{
    static struct engines e = {
        .options = {.seed = 1, .count = UINT64_MAX, .a = "base", .keep = "build/engines"}};
    static const struct option_table table = {
        .rows = rows, .operands = "[CASE.ptx...]", .about = "Compares ways to run PTX."};
    options_parse(&table, argc, argv, &e.options);
    if (!read_variants(&e)) {
        fprintf(
            stderr,
            "engines: expected TARGET[:CORES[:ENGINE]] with a target base, avx2 or avx512 and an "
            "engine auto, interpreter or native\n");
        return 2;
    }
    if (e.options.print) {
        char *text = generate(e.options.seed);
        fputs(text, stdout);
        free(text);
        return 0;
    }
    if (e.options.plant)
        return run_plants(&e);
    for (size_t i = 0; i < e.options.file_count; i++)
        run_file(&e, e.options.files[i]);
    if (!e.options.file_count)
        run_seeds(&e);
    if (e.options.table)
        print_table(&e);
    print_summary(&e);
    return e.differing != 0;
}
