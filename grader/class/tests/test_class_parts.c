#include "base/tests/temp_folder.h"
#include "grader/class/download.h"
#include "grader/standing/deadlines.h"
#include "grader/class/class.h"
#include "base/csv.h"
#include "base/parallel.h"
#include "grader/class/class_options.h"
#include "grader/class/final.h"
#include "grader/class/places.h"
#include "grader/stages/grading.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(class_parts, .init = temp_folder_make, .fini = temp_folder_remove);

/* ---- names ---------------------------------------------------------------------------------- */

Test(class_parts, names_are_stored_exactly_if_they_are_utf8)
{
    static const char *const valid[] = {"s001",       "a\nb",     "-rf",
                                        "it's \"q\"", "\xc3\xa4", "\xf0\x9f\x98\x80"};
    static const char *const invalid[][2] = {{"bad\xff", "bad\\xff"},
                                             {"\xc0\xaf", "\\xc0\\xaf"},          /* overlong */
                                             {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
                                             {"cut\xe2\x82", "cut\\xe2\\x82"}};
    char text[CL_NAME_BYTES];
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
        cr_expect(cl_name_text(text, valid[i]));
        cr_expect_str_eq(text, valid[i]);
    }
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        cr_expect_not(cl_name_text(text, invalid[i][0]));
        cr_expect_str_eq(text, invalid[i][1]);
    }
}

Test(class_parts, names_make_folders_of_their_own)
{
    char a[256], b[256], folder[256], longer[600];
    cr_expect_str_eq(cl_name_folder(folder, "../x y"), "%2E%2E%2Fx%20y");
    cr_expect_str_eq(cl_name_folder(folder, "-rf"), "%2Drf");
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cl_name_folder(a, longer);
    longer[sizeof longer - 2] = 'b';
    cl_name_folder(b, longer);
    cr_expect(strlen(a) < 255 && strcmp(a, b) != 0);
}

Test(class_parts, shown_names_stay_on_their_line)
{
    char shown[CL_SHOWN_BYTES];
    cr_expect_str_eq(cl_name_shown(shown, "a\nb\tc\x1b[31m"), "a\\x0ab\\x09c\\x1b[31m");
}

/* ---- the forms of platforms' downloads ------------------------------------------------------ */

Test(class_parts, entries_of_downloads_are_taken_apart)
{
    static const struct {
        enum cl_form form;
        bool folder;
        const char *entry, *key, *name, *id, *file;
        bool late;
    } rows[] = {
        {CL_CANVAS, false, "leeann_101_9001_conv.cu", "leeann_101", "leeann", "101", "conv.cu",
         false},
        {CL_CANVAS, false, "leeann_LATE_101_9001_my_conv-2.cu", "leeann_101", "leeann", "101",
         "my_conv.cu", true},
        {CL_CANVAS, false, "LATE_anon_aB3_9_conv.c", "anon_aB3", "", "aB3", "conv.c", true},
        {CL_CANVAS, false, "leeann_101_text.html", "leeann_101", "leeann", "101", "text.html",
         false},
        {CL_MOODLE, true, "Ann Lee_501_assignsubmission_file_", "Ann Lee_501", "Ann Lee", "501", "",
         false},
        {CL_MOODLE, true, "Ann Lee_501_assignsubmission_file", "Ann Lee_501", "Ann Lee", "501", "",
         false},
        {CL_MOODLE, false, "Ann Lee_501_assignsubmission_file_conv.c", "Ann Lee_501", "Ann Lee",
         "501", "conv.c", false},
        {CL_MOODLE, true, "Default group_assignsubmission_file_", "Default group", "Default group",
         "", "", false},
        {CL_GRADESCOPE, true, "submission_17", "submission_17", "", "", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cl_download_entry e;
        cr_assert(cl_download_parse(rows[i].form, rows[i].entry, rows[i].folder, &e), "%s",
                  rows[i].entry);
        cr_expect_str_eq(e.key, rows[i].key);
        cr_expect_str_eq(e.person.name, rows[i].name);
        cr_expect_str_eq(e.person.id, rows[i].id);
        cr_expect_str_eq(e.file, rows[i].file);
        cr_expect_eq(e.late, rows[i].late, "%s", rows[i].entry);
    }
}

Test(class_parts, other_entries_are_not_downloads)
{
    static const char *const names[] = {"s001",     "conv.c", "notes_1.txt", "a_b_c.zip",
                                        "_1_2_x.c", "x_1_2_", "x_1_notes.c"};
    struct cl_download_entry e;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int form = CL_CANVAS; form <= CL_GRADESCOPE; form++)
            cr_expect_not(cl_download_parse(form, names[i], false, &e), "%s", names[i]);
    const bool folders[] = {true, false, false};
    cr_expect_eq(
        cl_download_guess((const char *const[]){"s001", "a.zip", "x_1_2_c.zip"}, folders, 3),
        CL_PLAIN);
    cr_expect_eq(
        cl_download_guess((const char *const[]){"submission_1", CL_METADATA, "x"}, folders, 3),
        CL_GRADESCOPE);
    cr_expect_eq(
        cl_download_guess((const char *const[]){"A B_1_assignsubmission_file_", "r.csv", "x"},
                          folders, 3),
        CL_MOODLE);
}

#define SOMEBODY(n, display, mail, id)                                                             \
    {                                                                                              \
        .name = n, .team = "", .display_name = display, .email = mail, .platform_id = id,          \
        .sis_id = "", .section = ""                                                                \
    }

Test(class_parts, people_are_found_by_number_address_or_name)
{
    struct gb_roster rows[] = {SOMEBODY("alee", "Lee, Ann", "ann@uni.edu", "101"),
                               SOMEBODY("bob", "Bob d'Olson-Smith", "bob@uni.edu", "102"),
                               SOMEBODY("jose", "Jos\u00e9 \u00c5berg", "", ""),
                               SOMEBODY("t1", "Twin Name", "", ""),
                               SOMEBODY("t2", "Twin Name", "", "")};
    const struct gb_roster_list roster = {5, rows};
    static const struct {
        struct sd_person person;
        const char *found, *odd;
    } asked[] = {
        {{.id = "101"}, "alee", ""},
        {{.email = "BOB@uni.edu"}, "bob", ""},
        {{.name = "leeann"}, "alee", ""},
        {{.name = "ANN LEE"}, "alee", ""},
        {{.name = "dolsonsmithbob"}, "bob", ""},
        {{.name = "\u00e5bergjos\u00e9"}, "jose", ""},
        {{.name = "Twin Name"}, NULL, "2 rows"},
        {{.name = "Bob d'Olson-Smith", .email = "ann@uni.edu"}, "alee", "which is ignored"},
        {{.name = "../../etc"}, NULL, ""},
        {{.name = ""}, NULL, ""},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char odd[512];
        const struct gb_roster *row = sd_roster_find(&roster, &asked[i].person, odd, sizeof odd);
        cr_expect_str_eq(row ? row->name : "-", asked[i].found ? asked[i].found : "-", "row %zu",
                         i);
        cr_expect(asked[i].odd[0] ? strstr(odd, asked[i].odd) != NULL : !odd[0], "row %zu: %s", i,
                  odd);
    }
}

Test(class_parts, times_need_a_zone)
{
    static const char *const same[] = {"2026-10-31T23:00:00Z", "2026-11-01 00:00 +01:00",
                                       "2026-10-31 23:00:00.0 UTC", "2026-10-31T18:30-04:30",
                                       "2026-11-01T01:00+0200"};
    static const char *const wrong[] = {"2026-10-31 23:00", "tomorrow", "2026-10-31T23:00 CET",
                                        "2026-10-31T23:00+99:00", ""};
    double seconds;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cr_assert(sd_time_read(same[i], NAN, &seconds), "%s", same[i]);
        cr_expect_float_eq(seconds, 1793487600, 0.001, "%s: %f", same[i], seconds);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(sd_time_read(wrong[i], NAN, &seconds), "%s", wrong[i]);
    cr_expect(sd_time_read("Saturday, 31 October 2026, 11:00 PM", 0, &seconds));
    cr_expect_float_eq(seconds, 1793487600, 0.001);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static struct csv read_csv(const char *text)
{
    struct csv csv;
    struct st_error err;
    cr_assert_eq(csv_read(temp_file("x.csv", text, strlen(text)), &csv, &err), ST_OK, "%s",
                 err.what);
    return csv;
}

Test(class_parts, csv_as_spreadsheets_write_it)
{
    struct csv csv = read_csv("\xef\xbb\xbfName,b\r\n\r\n\"a \"\"q\"\", x\r\ny\",2\r\nlast,");
    cr_assert_eq(csv.rows, 3);
    cr_expect_eq(csv_column(&csv, "name"), 0);
    cr_expect_str_eq(csv_field(&csv.row[1], 0), "a \"q\", x\r\ny");
    cr_expect_str_eq(csv_field(&csv.row[1], 1), "2");
    cr_expect_eq(csv.row[1].line, 3);
    cr_expect_eq(csv.row[2].line, 5);
    cr_expect_eq(csv.row[2].fields, 2);
    cr_expect_str_eq(csv_field(&csv.row[2], 1), "");
    cr_expect_str_eq(csv_field(&csv.row[2], 7), "");
    csv_free(&csv);
}

Test(class_parts, csv_with_other_separators_and_with_mistakes)
{
    struct csv csv = read_csv("a;b\n1;2,3\n");
    cr_expect_str_eq(csv_field(&csv.row[1], 1), "2,3");
    csv_free(&csv);
    csv = read_csv("a,b\n1,2\n\"open,3\n4,5\n");
    cr_expect_eq(csv.rows, 2);
    cr_expect_eq(csv.unclosed_line, 3);
    csv_free(&csv);
    csv = read_csv("a,b\n\xc3\xa4,2\n1,\xe4\n");
    cr_expect(csv_row_is_utf8(&csv.row[1]) && !csv_row_is_utf8(&csv.row[2]));
    csv_free(&csv);
    static const char utf16[] = "\xff\xfe"
                                "a\0,\0b\0";
    struct st_error err;
    cr_expect_eq(csv_read(temp_file("x.csv", utf16, sizeof utf16), &csv, &err), ST_BAD_FORMAT);
    cr_expect_str_eq(err.expected, "UTF-8");
    csv = read_csv("");
    cr_expect_eq(csv.rows, 0);
    cr_expect_eq(csv_column(&csv, "a"), -1);
    csv_free(&csv);
}

/* ---- seeds, ranking ------------------------------------------------------------------------- */

Test(class_parts, each_task_has_a_seed_of_its_own)
{
    uint64_t seed = cl_task_seed(7, "s001", "m1");
    cr_expect_eq(seed, cl_task_seed(7, "s001", "m1"));
    cr_expect_neq(seed, cl_task_seed(8, "s001", "m1"));
    cr_expect_neq(seed, cl_task_seed(7, "s002", "m1"));
    cr_expect_neq(seed, cl_task_seed(7, "s001", "m2"));
    cr_expect_neq(cl_task_seed(7, "s1", "m1"), cl_task_seed(7, "s", "1m1"));
}

/* Times 1 to 5: their median is 3, and their deviation from the median sqrt(2). */
Test(class_parts, ranking_counts_deviations_from_the_median)
{
    const struct cl_part part = {.first = 0.75, .second = 0.125};
    const double all[] = {5, 1, 3, 2, 4}, outlier[] = {1, 1, 1, 1, 100};
    cr_expect_float_eq(cl_ranking_share(&part, 3, all, 5), 0.75, 1e-12);
    cr_expect_float_eq(cl_ranking_share(&part, 1, all, 5), 0.75 + 0.125 * sqrt(2), 1e-12);
    cr_expect_float_eq(cl_ranking_share(&part, 5, all, 5), 0.75 - 0.125 * sqrt(2), 1e-12);
    cr_expect_eq(cl_ranking_share(&part, NAN, all, 5), 0);
    cr_expect_eq(cl_ranking_share(&part, 7, &all[0], 1), 0.75 - 0 * 7, "one alone is the median");
    cr_expect_float_eq(cl_ranking_share(&part, 1, outlier, 5), 0.75, 1e-12);
    cr_expect_leq(cl_ranking_share(&(struct cl_part){.first = 1, .second = 1}, 1, all, 5), 1);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The two layers of the larger network. */
static const struct conv_shape layers[] = {{1, 12, 1, 70, 70, 5}, {1, 24, 12, 33, 33, 5}};

static double longest_grading_s(enum runner_device device)
{
    const struct gr_options usual = gr_options_default();
    const struct grading g = {.host.device = device, .options = &usual};
    double sum = 0;
    for (size_t i = 0; i < usual.sizes; i++)
        for (size_t k = 0; k < sizeof layers / sizeof *layers; k++) {
            struct conv_shape shape = layers[k];
            shape.B = (int)usual.images[i];
            sum += gr_time_limit_s(&g, &shape);
        }
    return sum;
}

Test(class_parts, a_convolution_that_never_ends_meets_its_own_limit_first)
{
    char *argv[] = {(char[]){"class"}, (char[]){"DIR"}, (char[]){"--milestones"}, (char[]){"m2"}};
    struct cl_options o;
    cl_options_parse(&o, 4, argv);
    cr_expect_lt(longest_grading_s(RUNNER_ON_VIRTUAL_GPU), (double)o.limit_s);
    cr_expect_lt(longest_grading_s(RUNNER_ON_CPU), (double)o.limit_s);
}

Test(class_parts, short_gradings_wait_less_for_unit_shapes_on_the_cpu)
{
    struct gr_options options = gr_options_default();
    struct grading g = {.host.device = RUNNER_ON_CPU, .options = &options};
    struct conv_shape unit = {1, 1, 1, 1, 1, 1}, layer = layers[1];
    layer.B = 100;
    const double unit_s = gr_time_limit_s(&g, &unit), layer_s = gr_time_limit_s(&g, &layer);
    options.quick = true;
    cr_expect_float_eq(gr_time_limit_s(&g, &unit), unit_s - 7, 1e-9);
    cr_expect_eq(gr_time_limit_s(&g, &layer), layer_s);
    g.host.device = RUNNER_ON_GPU; /* the first call may take seconds */
    cr_expect_eq(gr_time_limit_s(&g, &unit), unit_s);
    g.host.device = RUNNER_ON_CPU;
    options.sizes_given = true;
    cr_expect_eq(gr_time_limit_s(&g, &unit), unit_s);
}

/* ---- places ---------------------------------------------------------------------------------- */

static size_t jobs_for(const char *file, size_t images, size_t asked_for)
{
    struct st_error err;
    struct cl_places places;
    struct cl_options o = {.milestones = 1, .jobs = asked_for, .asked.device = "virtual"};
    snprintf(o.milestone[0].file, sizeof o.milestone[0].file, "%s", file);
    o.asked.sizes = images > 0;
    o.asked.images[0] = images;
    cr_assert_eq(cl_places_find(&places, &o, &err), ST_OK);
    return places.jobs;
}

Test(class_parts, memory_limits_how_many_large_sizes_run_at_a_time)
{
    const size_t cores = (size_t)parallel_cores(), each = (size_t)6 << 30,
                 memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    const size_t large[] = {0, 10000}; /* 0: not given */
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const size_t jobs = jobs_for("conv.cu", large[i], 0);
        cr_expect(jobs >= 1 && jobs <= cores && (jobs == 1 || jobs * each <= memory), "%zu", jobs);
    }
    cr_expect_eq(jobs_for("conv.cu", 1000, 0), cores);
    cr_expect_eq(jobs_for("conv.cu", 0, 37), 37, "what was requested counts");
}

/* Two gradings use 3 GiB each on the CPU, with 5 GiB of address space. */
Test(class_parts, large_sizes_on_the_cpu_need_memory_too)
{
    cr_assert_eq(setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)5 << 30, RLIM_INFINITY}), 0);
    cr_expect_eq(jobs_for("conv.c", 0, 0), 1);
    cr_expect_eq(jobs_for("conv.c", 1000, 0), (size_t)parallel_cores());
}
