/* Tests of the shipped modelled times of references: the table is complete, was made from the
 * present sources, and is searched by shape. */
#include "base/tests/temp_folder.h"
#include "grader/course/milestone.h"
#include "grader/stages/companions.h"
#include "grader/stages/shipped_times.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct conv_shape layers[] = {
    {100, 12, 1, 70, 70, 5}, {100, 24, 12, 33, 33, 5}, {100, 50, 1, 28, 28, 5}};

TestSuite(shipped_times, .init = temp_folder_make, .fini = temp_folder_remove);

static struct gr_shipped_times shipped(void)
{
    struct gr_shipped_times times;
    struct st_error err;
    cr_assert_eq(gr_shipped_times_read(&times, NULL, &err), ST_OK, "%s", err.what);
    cr_assert(times.rows, "make modelled-times");
    return times;
}

Test(shipped_times, hold_each_layer_of_each_reference_on_each_gpu)
{
    static const char *const profiles[] = {"h200", "k80", "t4", "rtx-4060-laptop", "v100"};
    static const char *const ids[] = {"m2", "m3", "m4",  "m5",  "m6",  "m7",
                                      "m8", "m9", "m10", "m12", "m14", "m11"};
    enum { OF_ALL = 11 }; /* other GPUs lack compute capability 8.0 */
    static const bool later[] = {true, false, false, true, false};
    struct gr_shipped_times times = shipped();
    struct gr_shipped_time found;
    for (size_t p = 0; p < sizeof profiles / sizeof *profiles; p++)
        for (size_t m = 0; m < sizeof ids / sizeof *ids; m++)
            for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
                cr_expect(gr_shipped_time_find(&times, profiles[p], ids[m], &layers[i], &found) ==
                              (m < OF_ALL || later[p]),
                          "%s %s, layer %zu: make modelled-times", profiles[p], ids[m], i);
    static const char *const products[] = {"g2", "g3", "g8"};
    const struct conv_shape square = exercise_of("g2")->square(1024);
    for (size_t p = 0; p < sizeof profiles / sizeof *profiles; p++)
        for (size_t m = 0; m < sizeof products / sizeof *products; m++)
            cr_expect(gr_shipped_time_find(&times, profiles[p], products[m], &square, &found),
                      "%s %s: make modelled-times", profiles[p], products[m]);
    for (size_t p = 0; p < sizeof profiles / sizeof *profiles; p++)
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
            struct conv_shape streams = layers[i];
            streams.B = exercise_of("m13")->speed_size;
            cr_expect(gr_shipped_time_find(&times, profiles[p], "m13", &streams, &found) &&
                          gr_shipped_time_find(&times, profiles[p], "m13" GR_PLAIN_SUFFIX, &streams,
                                               &found),
                      "%s m13, layer %zu: build/model-times m13 %s", profiles[p], i, profiles[p]);
        }
    struct conv_shape other = layers[0];
    other.B++;
    cr_expect(!gr_shipped_time_find(&times, "h200", "m2", &other, &found));
    cr_expect(!gr_shipped_time_find(&times, "nobody", "m2", &layers[0], &found));
    cr_expect(!gr_shipped_time_find(&times, "h200", "m1", &layers[0], &found));
    tsv_free(&times.table);
}

Test(shipped_times, are_of_the_references_and_the_clock_that_are_here)
{
    struct gr_shipped_times times = shipped();
    for (size_t i = 0; i < times.rows; i++) {
        struct gr_shipped_time row;
        struct gr_milestone milestone;
        struct st_error err;
        char version[GR_VERSION_CHARS], id[16];
        cr_assert(gr_shipped_time_row(&times, i, &row), "row %zu", i);
        snprintf(id, sizeof id, "%.*s", (int)strcspn(row.milestone, "-"), row.milestone);
        cr_assert_eq(gr_milestone_find(&milestone, id, &err), ST_OK, "%s", err.what);
        cr_assert(gr_shipped_version(milestone.reference_source, row.cuda, version));
        cr_assert_str_eq(row.version, version, "%s %s: make modelled-times", row.profile,
                         row.milestone);
    }
    tsv_free(&times.table);
}

Test(shipped_times, have_another_version_for_another_source_or_toolkit)
{
    char one[GR_VERSION_CHARS], other[GR_VERSION_CHARS];
    cr_assert(gr_shipped_version(temp_file("a.cu", "a", 1), "13.0", one));
    cr_assert(gr_shipped_version(temp_file("b.cu", "b", 1), "13.0", other));
    cr_expect_str_neq(one, other);
    cr_assert(gr_shipped_version(temp_path("a.cu"), "12.4", other));
    cr_expect_str_neq(one, other);
    cr_expect(!gr_shipped_version(temp_path("none.cu"), "13.0", other));
}

Test(shipped_times, are_refused_with_other_columns)
{
    static const char text[] =
        "profile\tmilestone\timages\tM\tC\tH\tW\tR\top_time_s\tcuda\tversion\n";
    struct gr_shipped_times times;
    struct st_error err;
    cr_assert_eq(gr_shipped_times_read(&times, temp_file("t.tsv", text, sizeof text - 1), &err),
                 ST_BAD_FORMAT);
    cr_expect_str_eq(err.expected, "column 8: K");
    tsv_free(&times.table);
}

/* A milestone whose reference is not built, as in a hand-out; here its folder is renamed. */
Test(shipped_times, stand_in_where_no_reference_is)
{
    struct gr_options options = {.model = "two-layer"};
    static struct gr_result result;
    static struct gr_rubric rubric;
    struct grading g = {.options = &options, .result = &result, .rubric = &rubric};
    struct gr_companion companion[GR_COMPANIONS];
    struct gr_conv conv = {.shape = layers[1]};
    g.host.device = RUNNER_ON_VIRTUAL_GPU;
    snprintf(g.host.profile, sizeof g.host.profile, "t4");
    snprintf(g.milestone.id, sizeof g.milestone.id, "m3");
    gr_companions_clear(companion);
    gr_companions_start(companion, &g);
    gr_companions_time(companion, &g, "two-layer", &conv, 1, false);
    conv.shape.B = 7;
    gr_companions_time(companion, &g, "two-layer", &conv, 1, false);
    gr_companions_end(companion);
    cr_assert_eq(result.timings, 1, "%zu: none of 7 images", result.timings);
    cr_expect_eq(result.timing[0].subject, GR_REFERENCE);
    struct gr_shipped_times times = shipped();
    struct gr_shipped_time found;
    cr_assert(gr_shipped_time_find(&times, "t4", "m3", &layers[1], &found));
    cr_expect_eq(result.timing[0].median_s, found.op_time_s);
    tsv_free(&times.table);
}
