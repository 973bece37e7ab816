/* Tests of a sweep's parameters, of how it reads a source, and of its tables. */
#include "base/tests/temp_folder.h"

#include "base/tests/test_text.h"
#include "base/tsv.h"
#include "grader/sweep/sweep.h"

#include <math.h>
#include <string.h>

TestSuite(sweep, .init = temp_folder_make, .fini = temp_folder_remove);

static struct sweep *sweep_of(const char *const *parameters, size_t n)
{
    struct sweep *s = calloc(1, sizeof *s);
    struct st_error err;
    s->grading.arena.fd = -1;
    s->grading.session = GR_SESSION_CLOSED;
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(sweep_parameter_parse(s, parameters[i], &err), ST_OK, "%s", err.what);
    return s;
}

Test(sweep, several_parameters_are_a_cross_product)
{
    static const char *const parameters[] = {"TILE=8,16", "MODE=fast,1.5f,-1"};
    struct sweep *s = sweep_of(parameters, 2);
    struct st_error err;
    char text[160];
    cr_assert_eq(sweep_points_make(s, &err), ST_OK);
    cr_expect_eq(s->points, 6);
    cr_expect_str_eq(sweep_values(text, s, &s->point[0]), "8, fast");
    cr_expect_str_eq(sweep_values(text, s, &s->point[2]), "8, -1");
    cr_expect_str_eq(sweep_values(text, s, &s->point[5]), "16, -1");
    cr_expect_str_eq(sweep_names(text, s, "-"), "TILE-MODE");
    sweep_free(s);
    free(s);
}

Test(sweep, a_macro_that_is_not_a_parameter_is_named)
{
    static const char *const wrong[][2] = {
        {"TILE", "a name and values"},
        {"=8", "a name and values"},
        {"8A=1", "a name and values"},
        {"TI LE=1", "a name and values"},
        {"TILE=", "not allowed for -D"},
        {"TILE=8,", "not allowed for -D"},
        {"TILE=8,,9", "not allowed for -D"},
        {"TILE=8;rm", "not allowed for -D"},
        {"TILE=$(id)", "not allowed for -D"},
        {"TILE=`id`", "not allowed for -D"},
        {"TILE=a b", "not allowed for -D"},
        {"TILE=8\n9", "not allowed for -D"},
        {"TILE=\"x\"", "not allowed for -D"},
        {"TILE=8,16,8", "appears twice"},
        {"TILE=../../etc", "not allowed for -D"},
        {"A=1", "appears twice"},
        {"TILE=000000000000000000000000000000000000000000", "not allowed for -D"},
    };
    static const char *const a[] = {"A=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sweep *s = sweep_of(a, 1);
        struct st_error err;
        cr_expect_eq(sweep_parameter_parse(s, wrong[i][0], &err), ST_USAGE, "%s", wrong[i][0]);
        cr_expect(strstr(err.what, wrong[i][1]), "%s: %s", wrong[i][0], err.what);
        free(s);
    }
}

Test(sweep, too_much_is_refused)
{
    static const char *const parameters[] = {"A=1,2,3,4,5", "B=1,2,3,4", "C=1,2,3,4"};
    struct sweep *s = sweep_of(parameters, 3);
    struct st_error err;
    cr_expect_eq(sweep_points_make(s, &err), ST_USAGE);
    cr_expect(strstr(err.what, "too many combinations"));
    cr_expect_str_eq(err.got, "80");
    cr_expect_eq(sweep_parameter_parse(s, "D=1", &err), ST_OK);
    cr_expect_eq(sweep_parameter_parse(s, "E=1", &err), ST_USAGE);
    free(s);
}

/* ---- sources -------------------------------------------------------------------------------- */

static const char source[] = "/* #ifndef COMMENTED\n * #define COMMENTED 3\n */\n"
                             "#define FIXED 4\n"
                             "#ifndef TILE\n#  define TILE 16 // not OTHER\n#endif\n"
                             "#if !defined(ROWS)\n#define ROWS 2\n#endif\n"
                             "#ifdef UNROLL\nconst char *s = \"QUOTED\";\n#endif\n"
                             "#define CALL(x) x\n"
                             "#ifndef GUARD_H\n#define GUARD_H\n#endif\n"
                             "int f(void) { return TILE + ROWS + FIXED + '\\''; }\n";

static enum st_code check(const char *parameter, struct st_error *err)
{
    struct sweep *s = sweep_of(&parameter, 1);
    enum st_code code = sweep_source_check(s, temp_file("conv.cu", source, sizeof source - 1), err);
    free(s);
    return code;
}

Test(sweep, parameters_that_the_source_lets_be_changed_are_taken)
{
    struct st_error err;
    static const char *const good[] = {"TILE=8", "ROWS=1", "UNROLL=1"};
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(check(good[i], &err), ST_OK, "%s: %s", good[i], err.what);
}

Test(sweep, others_are_refused_and_the_existing_ones_named)
{
    struct st_error err;
    static const char *const unknown[] = {"COMMENTED=1", "QUOTED=1", "OTHER=1", "TIL=1", "x1=1"};
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(check(unknown[i], &err), ST_USAGE, "%s", unknown[i]);
        cr_expect(strstr(err.what, "has no parameter"), "%s", err.what);
        cr_expect_str_eq(err.expected, "TILE, ROWS");
    }
    cr_expect_eq(check("FIXED=1", &err), ST_USAGE);
    cr_expect(strstr(err.what, "fixes FIXED"));
    cr_expect(strstr(err.hint, "#ifndef FIXED"));
}

/* ---- results -------------------------------------------------------------------------------- */

static void set_time(struct sweep *s, size_t point, size_t size, int layer, double seconds)
{
    struct sweep_time *t = &s->point[point].time[size][layer];
    for (t->repeats = 0; t->repeats < 3; t->repeats++)
        t->op_time_s[t->repeats] = seconds * (1 + 0.1 * (double)t->repeats);
    strcpy(t->limiter, "dram");
    strcpy(t->block, "16x8x1");
    t->occupancy = 0.5;
    t->registers = 40;
    t->shared_bytes = 2048;
}

/* Makes a sweep in which 8 is right, 16 is right at 100 images and wrong at 1000, 32 does not
 * compile, and 64 fails. */
static struct sweep *sample(void)
{
    static const char *const parameters[] = {"TILE=8,16,32,64"};
    struct sweep *s = sweep_of(parameters, 1);
    struct st_error err;
    cr_assert_eq(sweep_points_make(s, &err), ST_OK);
    strcpy(s->result.milestone, "m3");
    strcpy(s->result.subject, "submission");
    strcpy(s->origin, "modelled: virtual GPU, profile h200");
    strcpy(s->model, "two-layer");
    s->layers = 2;
    s->grading.host.device = RUNNER_ON_VIRTUAL_GPU;
    s->options.sizes = 2;
    s->options.images[0] = 100, s->options.images[1] = 1000;
    for (size_t size = 0; size < 2; size++)
        for (int layer = 0; layer < 2; layer++) {
            set_time(s, 0, size, layer, 0.002 * (layer + 1));
            set_time(s, 1, size, layer, 0.001 * (layer + 1));
        }
    s->point[1].status = SWEEP_WRONG;
    s->point[1].failed_images = 1000;
    strcpy(s->point[1].note, "7 of 9 outputs are wrong | *x*");
    s->point[2].status = SWEEP_NOT_COMPILED;
    strcpy(s->point[2].note, "conv.cu(3): error: no `TILE`");
    s->point[3].status = SWEEP_FAILED;
    strcpy(s->point[3].note, "conv_forward returned 1");
    return s;
}

static char *text_of(void (*write)(FILE *, const struct sweep *), const struct sweep *s)
{
    char *text;
    PRINTED(text, write(out, s));
    return text;
}

Test(sweep, the_best_is_the_fastest_that_is_right)
{
    struct sweep *s = sample();
    cr_expect_eq(sweep_best(s, 0), &s->point[1]);
    cr_expect_eq(sweep_best(s, 1), &s->point[0], "16 is wrong there");
    cr_expect_float_eq(sweep_median_s(s, &s->point[1], 0, -1), 0.0033, 1e-9);
    cr_expect(isnan(sweep_median_s(s, &s->point[1], 1, -1)));
    cr_expect(isnan(sweep_median_s(s, &s->point[2], 0, 0)));
    sweep_free(s);
    free(s);
}

Test(sweep, the_table_has_a_row_for_each_value_whatever_became_of_it)
{
    struct sweep *s = sample();
    struct tsv t;
    struct st_error err;
    char *text = text_of(sweep_tsv, s);
    cr_assert_eq(tsv_parse(text, strlen(text), "sweep", &t, &err), ST_OK, "%s", err.what);
    cr_expect_eq(t.rows, 3 + 3 + 1 + 1 + 3 + 1 + 1 + 1);
    static const char *const status[] = {"ok", "ok", "does not compile", "failed"};
    for (size_t row = 0, all = 0; row < t.rows && all < 4; row++)
        if (strcmp(tsv_cell(&t, row, tsv_column(&t, "layer")), "all") == 0) {
            cr_expect_str_eq(tsv_cell(&t, row, tsv_column(&t, "status")), status[all]);
            all++;
        }
    cr_expect_str_eq(tsv_cell(&t, 0, tsv_column(&t, "TILE")), "8");
    cr_expect_str_eq(tsv_cell(&t, 0, tsv_column(&t, "op_time_s")), "0.0022");
    cr_expect_str_eq(tsv_cell(&t, 0, tsv_column(&t, "low_s")), "0.002");
    cr_expect_str_eq(tsv_cell(&t, 2, tsv_column(&t, "to_best")), "2");
    cr_expect_str_eq(tsv_cell(&t, 0, tsv_column(&t, "occupancy")), "0.5");
    cr_expect_str_eq(tsv_cell(&t, 6, tsv_column(&t, "note")), "conv.cu(3): error: no `TILE`");
    tsv_free(&t);
    sweep_free(s);
    free(s);
}

Test(sweep, the_page_marks_the_best_and_names_the_reasons_for_missing_ones)
{
    struct sweep *s = sample();
    char *page = text_of(sweep_markdown, s), *printed = text_of(sweep_print, s);
    static const char *const lines[] = {
        "# m3: sweep of TILE\n",
        "times modelled: virtual GPU, profile h200.",
        "## 100 images\n\n| TILE | layer 1 | layer 2 | all | to best | limiter |",
        "| 8 | 2.200 | 4.400 | 6.600 | 2.00 | dram | 50% | 40 | 2.0 |  |\n",
        "| **16** | 1.100 | 2.200 | **3.300** | 1.00 | dram | 50% | 40 | 2.0 | best |\n",
        "| 32 | - | - | - | | | | | | does not compile: conv.cu(3): error: no \\`TILE\\` |\n",
        "wrong: 7 of 9 outputs are wrong \\| \\*x\\* |\n",
        "| **8** | 2.200 | 4.400 | **6.600** | 1.00 |",
        "![Op Time with each value](plots/sweep-TILE.svg)\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(page, lines[i]), "%s", lines[i]);
    cr_expect(strstr(printed, "64                failed: conv_forward returned 1\n"));
    cr_expect(strstr(printed, "50%  best\n"));
    free(page), free(printed);
    sweep_free(s);
    free(s);
}
