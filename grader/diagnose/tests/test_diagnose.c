/** @file
 * Every mutant of tests/mutants must be recognised, and for the right reason: the first line of its
 * source names the pattern. Mutants marked (behaviour) or (build) are for the tests of the whole
 * grader.
 */
#include "grader/diagnose/diagnose.h"

#include "base/tests/run_tool.h"
#include "base/rng.h"
#include "grader/compare/compare.h"
#include "nn/oracle.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTANTS "grader/tests/mutants"

/* Mutants need no scratch memory, but a lab expects this function in the program that loads it. */
void *conv_workspace(size_t bytes)
{
    (void)bytes;
    return NULL;
}

/* ---- cases, run ----------------------------------------------------------------------------- */

typedef int lab_function(const struct conv_shape *, const float *, const float *, float *);

struct run {
    struct gr_case cases[GR_MAX_CASES];
    struct gr_compare compared[GR_MAX_CASES];
    float *storage[GR_MAX_CASES]; /* guard, y, guard, x, guard, k, guard, ref, atol */
    size_t n, wrong;
};

static void fill(float *to, size_t n, uint32_t bits)
{
    for (size_t i = 0; i < n; i++)
        memcpy(&to[i], &bits, sizeof bits);
}

static void run_case(struct run *run, const struct gr_case_shape *spec, uint64_t seed,
                     lab_function *lab)
{
    const struct conv_shape *s = &spec->shape;
    size_t x_elems = nn_conv_x_elems(s), k_elems = nn_conv_k_elems(s), y_elems = nn_conv_y_elems(s);
    /* The guards are so wide that no mutant reads or writes beyond them: some mutants use W for H,
     * M for C, or x for k. */
    size_t side = (size_t)(s->H > s->W ? s->H : s->W), plane = side * side, before = 4096;
    size_t after_y = (size_t)s->B * (s->M + s->C) * plane + before;
    size_t after_x = (size_t)(s->B * s->C + s->M + 1) * plane + before;
    size_t after_k = x_elems + (size_t)s->M * (s->M + s->C) * 121 + before;
    size_t guarded = before + y_elems + after_y + x_elems + after_x + k_elems + after_k;
    float *storage = malloc((guarded + y_elems + (size_t)s->M) * sizeof *storage);
    cr_assert_not_null(storage);
    fill(storage, guarded, GR_GUARD_BITS);
    float *y = storage + before, *x = y + y_elems + after_y, *k = x + x_elems + after_x;
    float *ref = storage + guarded, *tolerances = ref + y_elems;

    struct rng r = rng_make(seed, run->n);
    rng_fill(&r, x, x_elems, -1, 1);
    rng_fill(&r, k, k_elems, -1, 1);
    nn_oracle_conv(s, x, k, ref);
    nn_conv_tolerance(s, 0, 1, k, tolerances);
    fill(y, y_elems, GR_POISON_BITS);
    cr_assert_eq(lab(s, x, k, y), 0);

    struct gr_compare *compared = &run->compared[run->n];
    run->cases[run->n] = (struct gr_case){*spec, x, k, ref, tolerances, y};
    gr_compare_images(s, 0, (size_t)s->B, y, ref, tolerances, compared);
    run->wrong += compared->wrong;
    run->storage[run->n++] = storage;
}

/* Runs those unit shapes of a seed that have at most max_macs multiply-adds. Free the run with
 * run_free(). */
static struct run *run_shapes(lab_function *lab, uint64_t seed, double max_macs)
{
    struct gr_case_shape shapes[GR_MAX_CASES];
    struct run *run = calloc(1, sizeof *run);
    cr_assert_not_null(run);
    size_t n = gr_case_shapes(exercise_at(0), shapes, seed, 0);
    for (size_t i = 0; i < n; i++)
        if (nn_conv_macs(&shapes[i].shape) <= max_macs)
            run_case(run, &shapes[i], seed, lab);
    return run;
}

static void run_free(struct run *run)
{
    for (size_t i = 0; i < run->n; i++)
        free(run->storage[i]);
    free(run);
}

/* ---- mutants -------------------------------------------------------------------------------- */

struct mutant {
    char name[64], pattern[64];
};

/* Reads a mutant's first line. @return whether the file is a mutant that computes either a wrong or
 * a right result. */
static bool read_mutant(const char *file, struct mutant *to)
{
    char path[512], line[128] = "";
    size_t length = strlen(file);
    if (length < 3 || strcmp(file + length - 2, ".c") != 0)
        return false;
    snprintf(path, sizeof path, MUTANTS "/%s", file);
    snprintf(to->name, sizeof to->name, "%.*s", (int)(length - 2), file);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    bool ok = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    return ok && !strchr(line, '(') && sscanf(line, "/* expect: %63s", to->pattern) == 1;
}

static lab_function *load(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/mutants/%s/libconv.so", tool_build(), name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s", dlerror());
    lab_function *lab;
    *(void **)&lab = dlsym(library, "conv_forward");
    cr_assert_not_null(lab);
    return lab;
}

static void expect_pattern(const struct mutant *mutant, lab_function *lab, uint64_t seed,
                           double max_macs)
{
    struct run *run = run_shapes(lab, seed, max_macs);
    struct gr_diagnosis diagnosis;
    gr_diagnose(run->cases, run->compared, run->n, false, &diagnosis);
    if (strcmp(mutant->pattern, "pass") == 0) {
        cr_expect_eq(run->wrong, 0, "%s, seed %zu: is right", mutant->name, (size_t)seed);
        cr_expect_str_empty(diagnosis.pattern);
        cr_expect_str_empty(diagnosis.message);
    } else {
        const char *pattern = strcmp(mutant->pattern, "none") ? mutant->pattern : "";
        cr_expect_gt(run->wrong, 0, "%s, seed %zu: passes", mutant->name, (size_t)seed);
        cr_expect_str_eq(diagnosis.pattern, pattern, "%s, seed %zu: '%s', expected '%s': %s",
                         mutant->name, (size_t)seed, diagnosis.pattern, pattern, diagnosis.message);
        cr_expect_str_not_empty(diagnosis.message);
        cr_expect_str_not_empty(diagnosis.hint);
    }
    if (getenv("VERBOSE"))
        printf("%s: [%s] %s | %s\n", mutant->name, diagnosis.pattern, diagnosis.message,
               diagnosis.hint);
    run_free(run);
}

ParameterizedTestParameters(diagnose, names_the_fault_of_a_mutant)
{
    static struct mutant mutants[256];
    size_t n = 0;
    DIR *folder = opendir(MUTANTS);
    for (struct dirent *entry; folder && n < 256 && (entry = readdir(folder));)
        n += read_mutant(entry->d_name, &mutants[n]);
    if (folder)
        closedir(folder);
    return cr_make_param_array(struct mutant, mutants, n);
}

ParameterizedTest(struct mutant *mutant, diagnose, names_the_fault_of_a_mutant)
{
    lab_function *lab = load(mutant->name);
    /* All shapes once with a new random seed; the cheap shapes also with fixed seeds. */
    expect_pattern(mutant, lab, rng_fresh_seed(), 1e9);
    for (uint64_t seed = 1; seed <= 10; seed++)
        expect_pattern(mutant, lab, seed, 0.15e6);
}

Test(diagnose, has_mutants)
{
    struct mutant mutant;
    cr_expect(read_mutant("right.c", &mutant), "run the tests in the checkout's top folder");
    cr_expect_str_eq(mutant.pattern, "pass");
}

/* A second diagnosis of the same outputs must be the same. */
Test(diagnose, repeats)
{
    struct run *run = run_shapes(load("boundary_tiles"), 5, 0.15e6);
    struct gr_diagnosis a, b;
    gr_diagnose(run->cases, run->compared, run->n, false, &a);
    gr_diagnose(run->cases, run->compared, run->n, false, &b);
    cr_expect_str_eq(a.pattern, b.pattern);
    cr_expect_str_eq(a.message, b.message);
    cr_expect_str_eq(a.hint, b.hint);
    run_free(run);
}

/* ---- error map ------------------------------------------------------------------------------ */

/* A case with B = 2, M = 2, whose outputs are all 0 and right. */
static struct gr_case blank_case(int H_out, int W_out, float *ref, float *y)
{
    static const float tolerances[2] = {0, 0};
    struct gr_case c = {.spec.shape = {2, 2, 1, H_out, W_out, 1}, .ref = ref, .y = y};
    c.atol = tolerances;
    memset(ref, 0, 4 * sizeof *ref * H_out * W_out);
    memset(y, 0, 4 * sizeof *y * H_out * W_out);
    return c;
}

static const char *map_of(const struct gr_case *c, size_t room)
{
    static char text[4096];
    struct gr_compare compared = {0};
    gr_compare_images(&c->spec.shape, 0, 2, c->y, c->ref, c->atol, &compared);
    memset(text, '#', sizeof text);
    gr_error_map(c, &compared, text, room);
    cr_assert(memchr(text, '\0', room));
    return text;
}

static float ref[4 * 100 * 200], y[4 * 100 * 200];

Test(error_map, shows_the_first_wrong_map)
{
    struct gr_case c = blank_case(3, 4, ref, y);
    float *map = y + 12; /* b = 0, m = 1 */
    map[1] = 5;
    fill(&map[4], 1, GR_POISON_BITS);
    map[6] = 1.0f / 0.0f;
    fill(&map[11], 1, 0x7fc00000u);
    cr_expect_str_eq(map_of(&c, 4096), "image b = 0, map m = 1, 3 x 4 outputs (. right, x wrong, _ "
                                       "never written, N NaN or Inf)\n"
                                       "   0 .x..\n"
                                       "   1 _.N.\n"
                                       "   2 ...N\n"
                                       "wrong outputs in image 0, 1, ...: 4 0\n"
                                       "wrong outputs in map 0, 1, ...: 0 4\n");
}

Test(error_map, says_nothing_of_counts_that_are_equal)
{
    struct gr_case c = blank_case(1, 1, ref, y);
    y[0] = y[1] = y[2] = y[3] = 1;
    cr_expect_str_eq(map_of(&c, 4096),
                     "image b = 0, map m = 0, 1 x 1 outputs (. right, x wrong)\n   0 x\n");
}

Test(error_map, shrinks_to_66_columns_and_24_rows)
{
    struct gr_case c = blank_case(100, 200, ref, y);
    y[99 * 200 + 199] = 1;
    const char *text = map_of(&c, 4096);
    size_t rows = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (line[0] != ' ')
            continue;
        rows++;
        cr_expect_leq(strchr(line, '\n') - line, 5 + 66);
    }
    cr_expect_leq(rows, 24);
    cr_expect_not_null(strstr(text, "shrunk: each character shows the worst of 5 x 4 elements\n"));
    cr_expect_not_null(strstr(text, "  95 .................................................x\n"));
}

Test(error_map, fits_any_room)
{
    struct gr_case c = blank_case(24, 66, ref, y);
    y[0] = 1;
    for (size_t room = 1; room < 2500; room++)
        map_of(&c, room);
}
