/* Tests of drawn plots: data and scripts are compared with golden files, and pictures are complete
 * and contain the required elements. */
#include "plots_fixture.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "grader/plots/plot_gnuplot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Test(plots, the_checker_of_pictures_rejects_malformed_pictures)
{
    static const char *const wrong[] = {"<svg><g></svg>",   "<svg>a < b</svg>",
                                        "<svg>a & b</svg>", "<svg",
                                        "<svg></svg></g>",  "<svg><a x='<'/></svg>"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(is_well_formed(wrong[i]), "%s", wrong[i]);
    cr_expect(
        is_well_formed("<?xml version='1.0'?><svg a=\"b\"><g/>a &amp; b &lt; c<t></t></svg>"));
}

static const struct {
    const char *name;
    const char *texts[8];
} drawn[] = {
    {"op-times",
     {"m5: Op Time by data-set size", "Images", "Op Time, ms", "layer 1 (1x70x70, 12@5)",
      "layer 2 (12x33x33, 24@5)", ">100<", "modelled: virtual GPU, profile h200"}},
    {"speed-up",
     {"m5: speed-up over m2 (reference), 100 images", "times as fast", "m5 (yours)",
      "m5 (reference)", "m2 (reference)"}},
    {"ladder",
     {"Op Time of each milestone, 100 images", "m3 library", "m5 yours", "floor", "Op Time, ms"}},
    {"roofline",
     {"Roofline of the kernels, 100 images", "FLOP/byte", "TFLOP/s", "DRAM: 4200 GB/s",
      "float32: 66.9 TFLOP/s", "multiply"}},
    {"kernel-shares", {"multiply", "unroll", "59%", "41%", "Images", "all kernels, %"}},
    {"timeline",
     {"Timeline, 100 images", "API calls", "copies to the GPU", "copies from the GPU", "1  unroll",
      "2  multiply", "cudaDeviceSynchronize", "ms"}},
    {"source-lines",
     {"168: inside ?", "Sectors of 32 bytes per request", "Passes per request", "loads", "stores",
      "16.0", "Shared memory"}},
    {"sweep-BLK_H-ROWS",
     {"m5: Op Time by BLK_H, ROWS", "8, 1", "does not compile", "failed", "best", "layer 2",
      "20 images"}},
};
enum { DRAWN = sizeof drawn / sizeof *drawn };

/* Compares a plot's data, or the values in its script; style.gp and the plot's *.gp follow them. */
static void compare_with_golden(const char *folder, const char *name)
{
    char golden[96], got[PATH_MAX];
    snprintf(golden, sizeof golden, "golden/%s", name);
    path_format(got, sizeof got, "%s/plots/%s", folder, name);
    char *is = text_of_file(got), *style = strstr(is, "# ---- the style of all plots");
    cr_expect_eq(style != NULL, strstr(name, ".gp") != NULL, "%s", name);
    if (style)
        *style = '\0';
    expect_golden(in_tests(golden), is);
    free(is);
}

/* Whether the numbers on the y axis do not overlap its label, assuming letters of a usual width. */
static bool numbers_are_clear(const char *svg)
{
    const char *label = strstr(svg, " rotate(-90");
    const double right = label ? 16 * 0.3 + atof(strstr(label - 40, "translate(") + 10) : 0;
    for (const char *at = svg; (at = strstr(at, "text-anchor=\"end\"")); at++) {
        const char *text = strstr(at, "<text>") + 6, *g = at;
        while (strncmp(g, "translate(", 10) != 0)
            g--;
        if (atof(g + 10) - 16 * 0.62 * (double)(strchr(text, '<') - text - 1) < right)
            return false;
    }
    return label != NULL;
}

Test(plots, numbers_are_clear_of_the_axis_label)
{
    cr_expect_not(
        numbers_are_clear("<g transform=\"translate(45.18,9)\" text-anchor=\"end\"><text> "
                          "0.5</text></g><g transform=\"translate(19.19,9) rotate(-90)\">"));
    const char *folder = copy_of_data();
    free(draw(folder));
    static const char *const names[] = {"op-times.svg", "speed-up.svg", "roofline.svg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *svg = picture(folder, names[i]);
        cr_expect(numbers_are_clear(svg), "%s", names[i]);
        free(svg);
    }
}

Test(plots, every_plot_has_its_data_its_script_and_its_pictures)
{
    const char *folder = copy_of_data();
    struct gr_plots *plots = draw(folder);
    cr_expect_eq(plots->n, DRAWN);
    for (size_t i = 0; i < DRAWN; i++) {
        char file[128], path[PATH_MAX];
        const struct gr_plot *plot = gr_plots_find(plots, drawn[i].name);
        cr_assert(plot, "%s", drawn[i].name);
        cr_expect_str_eq(plot->reason, "");
        cr_expect(plot->title[0] && plot->caption[0]);
        static const char *const suffix[] = {"tsv", "gp", "svg", "png", "pdf"};
        for (size_t f = 0; f < 5; f++) {
            snprintf(file, sizeof file, "%s.%s", drawn[i].name, suffix[f]);
            path_format(path, sizeof path, "%s/plots/%s", folder, file);
            if (f < 2)
                compare_with_golden(folder, file);
            else if (f < 4 || plot->pdf)
                cr_expect(gnuplot_picture_is_whole(path), "%s", path);
        }
        snprintf(file, sizeof file, "%s.svg", drawn[i].name);
        char *svg = picture(folder, file);
        cr_expect(is_well_formed(svg), "%s", file);
        for (size_t t = 0; t < 8 && drawn[i].texts[t]; t++)
            cr_expect(strstr(svg, drawn[i].texts[t]), "%s: %s", file, drawn[i].texts[t]);
        free(svg);
    }
    /* m2 ran on another device. */
    const struct gr_plot *ladder = gr_plots_find(plots, "ladder");
    cr_expect(strstr(ladder->caption, "Left out, because they ran on another device"));
    cr_expect(strstr(ladder->caption, ": m2."));
    cr_expect_not(strstr(ladder->caption, ": m2, m3"));
    free(plots);
}

Test(plots, the_benchmark_of_one_run_is_a_ladder_with_cudnn)
{
    char bench[PATH_MAX];
    path_format(bench, sizeof bench, "%s/docs/results/h200/bench.tsv", checkout_root(NULL));
    shell("cp '%s' '%s'", bench, temp_path("bench.tsv"));
    free(draw(temp_path(".")));
    char *svg = picture(temp_path("."), "ladder.svg");
    static const char *const texts[] = {"measured on NVIDIA H200 in one run",
                                        "cuDNN",
                                        "floor",
                                        "m9",
                                        "two-layer, layer 2",
                                        "one-layer, layer 1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect(strstr(svg, texts[i]), "%s", texts[i]);
    cr_expect_not(strstr(svg, "modelled"));
    free(svg);
    svg = picture(temp_path("."), "against-cudnn.svg");
    static const char *const more[] = {"times as fast as cuDNN", "Times as fast", "10000 images",
                                       "measured on NVIDIA H200 in one run", "m9"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        cr_expect(strstr(svg, more[i]), "%s", more[i]);
    free(svg);
}

Test(plots, only_milestones_with_times_of_all_layers_are_compared_with_cudnn)
{
    static const char bench[] = "device\tmodel\tlayer\timages\tsubject\tstatus\tmedian_ms\n"
                                "G\ta\t1\t100\tcudnn\tok\t3\nG\ta\t2\t100\tcudnn\tok\t5\n"
                                "G\ta\t1\t100\tm2\tok\t1\nG\ta\t2\t100\tm2\tok\t3\n"
                                "G\ta\t1\t100\tm3\tok\t1\nG\ta\t2\t100\tm3\twrong\t\n";
    temp_file("bench.tsv", bench, sizeof bench - 1);
    free(draw(temp_path(".")));
    char *table = picture(temp_path("."), "against-cudnn.tsv");
    cr_expect_str_eq(table, "group\tmilestone\t100 images\n0\tm2\t2\n1\tm3\tNaN\n");
    free(table);
}

/* The folder of all reports shows the device of most reports, with cuDNN's times from m0. */
Test(plots, gradings_on_a_gpu_are_a_ladder_with_cudnn)
{
    copy_of_data();
    const char *folder = temp_path("reports");
    for (int m = 4; m <= 10; m += 6) {
        char script[PATH_MAX];
        snprintf(script, sizeof script,
                 "cd '%%s' && mkdir m%d && sed 's/\"m2\"/\"m%d\"/' m2/result.json >m%d/result.json",
                 m, m, m);
        shell(script, folder, "");
    }
    mkdir(temp_path("reports/m0"), 0777);
    static const char m0[] =
        "{\"milestone\": \"m0\", \"device\": \"cpu and gpu\", \"inference\": ["
        "{\"model\": \"two-layer (oneDNN)\", \"images\": 100, \"passed\": true, "
        "\"op_times_s\": [0.5, 0.5]}, "
        "{\"model\": \"two-layer (cuDNN)\", \"images\": 100, \"passed\": true, "
        "\"op_times_s\": [0.000123, 0.000234]}]}";
    temp_file("reports/m0/result.json", m0, sizeof m0 - 1);
    struct gr_plots *plots = draw(folder);
    const struct gr_plot *ladder = gr_plots_find(plots, "ladder");
    cr_expect_str_eq(ladder->reason, "");
    cr_expect(strstr(ladder->caption, "cuDNN's times come from m0."), "%s", ladder->caption);
    cr_expect(strstr(ladder->caption, "Left out, because they ran on another device"));
    char *table = picture(folder, "ladder.tsv"), *svg = picture(folder, "ladder.svg");
    const char *m2 = strstr(table, "\tm2 library\t"), *m4 = strstr(table, "\tm4 library\t"),
               *m10 = strstr(table, "\tm10 library\t");
    cr_expect(m2 && m4 && m10 && m2 < m4 && m4 < m10);
    cr_expect(strstr(table, "\t0.123\t") && strstr(table, "\t0.234\t"));
    cr_expect_not(strstr(table, "\tm3 ") || strstr(table, "\tm5 "));
    cr_expect(strstr(svg, "measured on NVIDIA H200") && !strstr(svg, "modelled"));
    free(table), free(svg), free(plots);
}

Test(plots, a_changed_script_draws_the_students_plot)
{
    const char *folder = copy_of_data();
    shell("cd '%s' && rm -r profile sweep* ../m3", folder, "");
    free(draw(folder));
    shell("cd '%s/plots' && sed \"s/output 'op-times/output 'mine/; s/Op Time by/How long, by/\" "
          "op-times.gp "
          ">mine.gp && gnuplot mine.gp",
          folder, "");
    char *svg = picture(folder, "mine.svg");
    cr_expect(strstr(svg, "m5: How long, by data-set size"));
    free(svg);
}

Test(plots, a_long_trace_makes_a_small_picture)
{
    mkdir(temp_path("profile"), 0777);
    FILE *out = fopen(temp_path("profile/trace-7.tsv"), "w");
    fputs("kind\tname\tclient\tstream\tstart_ns\tend_ns\n", out);
    for (long i = 0; i < 20000; i++) {
        long at = i * 10000 + (i / 4000) * 400000000;
        fprintf(out, "kernel\tk%ld\t1\t0\t%ld\t%ld\napi\tcudaLaunchKernel\t1\t0\t%ld\t%ld\n",
                i % 12, at, at + 7000, at - (i ? 3000 : 0), at);
    }
    fclose(out);
    struct gr_plots *plots = draw(temp_path("."));
    const struct gr_plot *plot = gr_plots_find(plots, "timeline");
    cr_expect_str_eq(plot->reason, "");
    cr_expect(strstr(plot->caption, "5 periods"), "%s", plot->caption);
    struct stat info;
    cr_expect_eq(stat(temp_path("plots/timeline.svg"), &info), 0);
    cr_expect_lt(info.st_size, 600000);
    free(plots);
}

Test(plots, a_call_within_a_call_is_drawn_once)
{
    static const char trace[] = "kind\tname\tclient\tstream\tstart_ns\tend_ns\n"
                                "kernel\tk\t1\t0\t1000\t9000\n"
                                "api\tcudaMemcpy\t1\t0\t1000\t9500\n"
                                "api\tcuMemcpyHtoD\t1\t0\t1500\t9000\n"
                                "api\tcudaFree\t1\t0\t9600\t30000\n"
                                "kernel\tk\t1\t0\t400000\t400100\n";
    mkdir(temp_path("profile"), 0777);
    temp_file("profile/trace-1.tsv", trace, sizeof trace - 1);
    free(draw(temp_path(".")));
    char *table = picture(temp_path("."), "timeline.tsv");
    cr_expect(strstr(table, "\tcudaMemcpy\n"), "%s", table);
    cr_expect_not(strstr(table, "cuMemcpyHtoD"));
    free(table);
}
