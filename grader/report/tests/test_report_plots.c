/* Tests of the plots in a report. */
#include "report_fixture.h"

#include "base/files.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(report_plots, .init = folder_make, .fini = folder_remove);

Test(report_plots, without_gnuplot_the_page_says_so_once)
{
    struct gr_result *r = sample_result();
    without_gnuplot();
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect_eq(count(page, "Plots skipped: gnuplot is not installed."), 1);
    cr_expect_not(strstr(page, "Figure"));
    cr_expect_eq(folder_entries(), FOLDER_ENTRIES);
    free(page), free(r);
}

Test(report_plots, a_gnuplot_that_fails_leaves_no_plot)
{
    struct gr_result *r = sample_result();
    static const char *const programs[] = {
        "#!/bin/sh\nprintf '%100s</svg>'\nexit 1\n",         /* an error after a complete picture */
        "#!/bin/sh\nprintf '%100s' '<svg>half a picture'\n", /* half a picture, no error */
    };
    setenv("PATH", in_folder("."), 1);
    for (int i = 0; i < 2; i++) {
        write_text("gnuplot", programs[i]);
        chmod(in_folder("gnuplot"), 0755);
        write_report(r, "m1");
        cr_expect_not(file_exists(in_folder("m1/plots/op-times.svg")));
        char *page = read_text("m1/grading.md");
        cr_expect_eq(count(page, "Plots skipped: gnuplot could not draw them."), 1);
        free(page);
    }
    free(r);
}

Test(report_plots, without_a_baseline_no_plot_of_speed_up_exists)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    cr_assert(file_exists(in_folder("plots/speed-up.svg")));
    r->timings -= 2; /* the plain loops */
    write_report(r, ".");
    cr_expect_not(file_exists(in_folder("plots/speed-up.svg")) ||
                  file_exists(in_folder("plots/speed-up.png")));
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "Plot of speed-up skipped: neither the plain loops nor m2 were timed"));
    cr_expect(strstr(page, "Figure 1"));
    free(page), free(r);
}

Test(report_plots, wrong_inferences_are_not_plotted)
{
    struct gr_result *r = sample_result();
    r->inference[1].passed = false;
    write_report(r, ".");
    char *svg = read_text("plots/op-times.svg");
    cr_expect(strstr(svg, ">10000<"));
    cr_expect_not(strstr(svg, "41.0"), "the time at 1000 images");
    for (size_t i = 0; i < r->inferences; i++)
        r->inference[i].passed = false;
    write_report(r, ".");
    char *page = read_text("grading.md");
    cr_expect(strstr(page, "no inference with right outputs was timed"));
    cr_expect_not(strstr(page, "Figure"));
    cr_expect_not(file_exists(in_folder("plots/op-times.svg")) ||
                  file_exists(in_folder("plots/op-times.png")));
    free(svg), free(page), free(r);
}

Test(report_plots, show_title_units_and_key)
{
    struct gr_result *r = sample_result();
    write_report(r, ".");
    char *svg = read_text("plots/op-times.svg"), *bars = read_text("plots/speed-up.svg");
    static const char *const texts[] = {"m1: Op Time by data-set size", "Op Time, ms", "Images",
                                        "layer 1 (1x70x70, 12@5)", "410"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect(strstr(svg, texts[i]), "%s", texts[i]);
    cr_expect(strstr(bars, "plain loops") && strstr(bars, "m1 (yours)") && strstr(bars, "31.1"));
    cr_expect(strstr(bars, "m1: speed-up over plain loops, 100 images"));
    free(svg), free(bars), free(r);
}

Test(report_plots, odd_times_and_sizes_are_drawn_or_left_out)
{
    struct gr_result *r = sample_result();
    r->inference[0].images = 1;
    r->inference[1].images = 7;
    r->inference[2].images = 8;
    r->inference[0].op_time_s[0] = 0;
    r->inference[1].op_time_s[0] = NAN;
    r->inference[1].op_time_s[1] = 1e-9;
    r->inference[2].op_time_s[1] = 1e5;
    write_report(r, ".");
    cr_expect(file_exists(in_folder("plots/op-times.svg")) &&
              file_exists(in_folder("plots/op-times.png")));
    free(r);
}
