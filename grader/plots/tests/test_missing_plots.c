/* Tests of plots that cannot be drawn, or from missing, damaged or hostile tables. */
#include "plots_fixture.h"

#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Test(plots, without_data_a_plot_has_a_reason_and_no_picture)
{
    static const char *const reasons[][2] = {{"op-times", "no result.json"},
                                             {"speed-up", "no result.json"},
                                             {"ladder", "fewer than two milestones"},
                                             {"roofline", "no profile"},
                                             {"kernel-shares", "no profile"},
                                             {"timeline", "no profile"},
                                             {"source-lines", "no counters by source line"}};
    mkdir(temp_path("plots"), 0777);
    temp_file("plots/roofline.svg", "old", 3);
    struct gr_plots *plots = draw(temp_path("."));
    cr_expect_eq(plots->n, 7);
    for (size_t i = 0; i < plots->n; i++) {
        cr_expect_str_eq(plots->plot[i].name, reasons[i][0]);
        cr_expect(strstr(plots->plot[i].reason, reasons[i][1]), "%s", plots->plot[i].reason);
        cr_expect_not(plots->plot[i].failed);
    }
    cr_expect_not(file_exists(temp_path("plots/roofline.svg")));
    free(plots);
}

/* Writes a table of a profile, and expects that the reason for its missing plot contains a text. */
static void expect_reason(const char *file, const char *text, const char *plot, const char *reason)
{
    mkdir(temp_path("profile"), 0777);
    temp_file(file, text, strlen(text));
    struct gr_plots *plots = draw(temp_path("."));
    const char *got = gr_plots_find(plots, plot)->reason;
    cr_expect(strstr(got, reason), "%s: expected '%s', got '%s'", file, reason, got);
    unlink(temp_path(file));
    free(plots);
}

/* If all data stays in L2 at a size, the roof is L2's; a single size gives no line. */
Test(plots, a_small_size_has_a_roofline_of_l2_and_no_plot_of_one_point)
{
    static const char *const tables[] = {
        "images\tkernel\ttotal_ns\tflop\tdram_bytes\tl2_bytes\n9\tk\t5\t100\t0\t40\n",
        "images\tkernel\ttotal_ns\tflop\tdram_bytes\tl2_bytes\n9\tk\t5\t100\t20\t40\n"};
    static const char *const roofs[] = {"L2: ", "DRAM: 4200 GB/s"};
    static const char result[] =
        "{\"milestone\": \"m3\", \"subject\": \"submission\", \"device\": \"virtual\", \"profile\": "
        "\"virtual GPU, profile h200\", \"inference\": [{\"model\": \"two-layer\", \"images\": 9, "
        "\"passed\": true, \"op_times_s\": [0.001, 0.002]}]}";
    temp_file("result.json", result, sizeof result - 1);
    mkdir(temp_path("profile"), 0777);
    for (int i = 0; i < 2; i++) {
        temp_file("profile/kernels.tsv", tables[i], strlen(tables[i]));
        struct gr_plots *plots = draw(temp_path("."));
        char *svg = picture(temp_path("."), "roofline.svg"),
             *table = picture(temp_path("."), "roofline.tsv");
        cr_expect(strstr(svg, roofs[i]), "%s", roofs[i]);
        cr_expect(strstr(table, i ? "k\t5\t" : "k\t2.5\t"), "%s", table);
        cr_expect(strstr(gr_plots_find(plots, "op-times")->reason, "one data-set size"));
        cr_expect_not(file_exists(temp_path("plots/op-times.svg")));
        free(svg), free(table), free(plots);
    }
}

Test(plots, damaged_tables_are_named)
{
    static const char kernels[] = "profile/kernels.tsv", header[] = "images\tkernel\ttotal_ns\n";
    expect_reason(kernels, "", "roofline", "cannot be read");
    expect_reason(kernels, "images\tkernel\n100\n", "kernel-shares", "wrong number of fields");
    expect_reason(kernels, header, "kernel-shares", "no kernel ran");
    expect_reason(kernels, header, "roofline", "both the operations");
    expect_reason(kernels, "images\tkernel\ttotal_ns\nx\tk\t-5\n", "kernel-shares",
                  "no kernel ran");
    expect_reason(kernels, "images\tkernel\ttotal_ns\n9\tk\t5\n", "kernel-shares", "one kernel");
    expect_reason(kernels, "images\tkernel\ttotal_ns\tflop\tdram_bytes\n9\tk\t5\t1\t1\n",
                  "roofline", "no profile with its peak rates");
    expect_reason("profile/lines.tsv", "images\tline\n1\t2\n", "source-lines", "no line accesses");
    expect_reason("profile/trace-5.tsv", "garbage\n", "timeline", "cannot be read");
    expect_reason("profile/trace-5.tsv", "kind\tname\tstart_ns\tend_ns\n", "timeline",
                  "has no events");
    expect_reason("profile/trace-x.tsv", "kind\n", "timeline", "no trace");
    expect_reason("result.json", "{\"inference\": [7", "op-times", "no result.json");
    expect_reason("result.json", "{\"inference\": [7, {}, {\"op_times_s\": [1]}]}", "op-times",
                  "no inference");
    expect_reason("sweep-A.tsv", "values\timages\n", "sweep-A", "no rows");
    expect_reason("bench.tsv", "model\tsubject\n", "against-cudnn", "no times of cuDNN");
    expect_reason("bench.tsv", "model\tlayer\timages\tstatus\n", "ladder",
                  "no milestone in bench.tsv");
}

static const char hostile[] =
    "`touch hacked`'.system('touch hacked').'\"$(touch hacked)<script>&{}^_"
    "\\n@x%s\xff\x01";

Test(plots, hostile_names_are_text)
{
    const char *folder = copy_of_data();
    static const char *const files[] = {"profile/kernels.tsv", "profile/trace-100.tsv",
                                        "profile/lines.tsv", "sweep-BLK_H-ROWS.tsv", "result.json"};
    /* The hostile text replaces names of kernels and models, source lines, values and
     * milestones. */
    for (size_t i = 0; i < 5; i++) {
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/%s", folder, files[i]);
        char *text = text_of_file(path);
        FILE *out = fopen(path, "w");
        for (const char *p = text; *p; p++) {
            static const char *const words[] = {"multiply",   "two-layer",  "inside",
                                                "8, 1",       "BLK_H, ",    "m5",
                                                "cudaDevice", "virtual GPU"};
            size_t w = 0;
            while (w < 8 && strncmp(p, words[w], strlen(words[w])) != 0)
                w++;
            if (w == 8) {
                fputc(*p, out);
                continue;
            }
            for (const char *h = hostile; *h; h++) { /* in the form of the format */
                bool escape = *h == '\\' || (i == 4 && *h == '"');
                if (escape)
                    fputc('\\', out);
                if (i == 4 && (unsigned char)*h < ' ')
                    continue;
                fputc(*h, out);
            }
            p += strlen(words[w]) - 1;
        }
        fclose(out);
        free(text);
    }
    struct gr_plots *plots = draw(folder);
    size_t pictures = 0;
    for (size_t i = 0; i < plots->n; i++) {
        char file[128];
        if (plots->plot[i].reason[0])
            continue;
        snprintf(file, sizeof file, "%s.svg", plots->plot[i].name);
        char *svg = picture(folder, file);
        cr_expect(is_well_formed(svg), "%s", file);
        cr_expect_not(strstr(svg, "<script"), "%s", file);
        free(svg);
        pictures++;
    }
    cr_expect_geq(pictures, 6);
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/plots/hacked", folder);
    cr_expect_not(file_exists(path) || file_exists("hacked"));
    free(plots);
}

Test(plots, without_gnuplot_data_and_script_exist)
{
    const char *folder = copy_of_data();
    char path[PATH_MAX];
    free(draw(folder));
    setenv("PATH", temp_path("no-programs"), 1);
    struct gr_plots *plots = draw(folder);
    const struct gr_plot *plot = gr_plots_find(plots, "roofline");
    cr_expect_str_eq(plot->reason, "Plots skipped: gnuplot is not installed.");
    cr_expect(plot->failed);
    static const char *const there[] = {"tsv", "gp"}, *const gone[] = {"svg", "png", "pdf"};
    for (size_t i = 0; i < 2; i++) {
        path_format(path, sizeof path, "%s/plots/roofline.%s", folder, there[i]);
        cr_expect(file_exists(path), "%s", path);
    }
    for (size_t i = 0; i < 3; i++) {
        path_format(path, sizeof path, "%s/plots/roofline.%s", folder, gone[i]);
        cr_expect_not(file_exists(path), "%s", path);
    }
    free(plots);
}
