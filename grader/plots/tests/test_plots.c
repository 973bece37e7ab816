/* Tests of the plots: data and scripts are compared with golden files, pictures are complete and
 * contain the required elements, and missing, damaged or hostile tables are handled. */
#include "base/tests/temp_folder.h"

#include "base/checkout.h"
#include "base/tests/test_text.h"
#include "grader/plots/plot_gnuplot.h"
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(plots, .init = temp_folder_make, .fini = temp_folder_remove);

/* Whether to accept the output: CONVLAB_PLOTS_ACCEPT=1 replaces the expected files by the new ones;
 * read the diff afterwards. */
static bool accepts(void)
{
    const char *accept = getenv("CONVLAB_PLOTS_ACCEPT");
    return accept && *accept;
}

static const char *in_tests(const char *name)
{
    static char path[4][PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    path_format(path[next], PATH_MAX, "%s/grader/plots/tests/%s", checkout_root(NULL), name);
    return path[next];
}

static void shell(const char *format, const char *a, const char *b)
{
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, format, a, b);
    cr_assert_eq(system(command), 0, "%s", command);
}

/* Copies the reports in tests/data. @return the folder of m5, which has all tables. */
static const char *copy_of_data(void)
{
    shell("cp -R '%s' '%s'", in_tests("data"), temp_path("reports"));
    return temp_path("reports/m5");
}

static struct gr_plots *draw(const char *folder)
{
    struct st_error err;
    struct gr_plots *plots = calloc(1, sizeof *plots);
    enum st_code code = gr_plots_draw(folder, plots, &err);
    cr_assert_eq(code, ST_OK, "%s: %s", code ? err.what : "", code ? err.where : "");
    return plots;
}

static char *picture(const char *folder, const char *name)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/plots/%s", folder, name);
    return text_of_file(path);
}

/* Whether tags are closed in order, attributes are quoted and no '&' or '<' is unescaped. */
static bool is_well_formed(const char *xml)
{
    char open[64][32];
    size_t depth = 0;
    for (const char *p = xml; *p; p++) {
        if (*p == '&') {
            size_t n = strcspn(p, ";");
            if (n > 8 || strcspn(p, " <") < n)
                return false;
        }
        if (*p != '<')
            continue;
        const char *end = p + 1;
        for (char quote = 0; *end && (quote || *end != '>'); end++) {
            if (*end == '<' || (quote && *end == quote))
                quote = 0;
            else if (!quote && (*end == '"' || *end == '\''))
                quote = *end;
            if (*end == '<')
                return false;
        }
        if (!*end)
            return false;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p + 1 + (p[1] == '/'), " \t\n/>"),
                 p + 1 + (p[1] == '/'));
        if (p[1] == '/') {
            if (!depth || strcmp(open[--depth], name) != 0)
                return false;
        } else if (p[1] != '?' && p[1] != '!' && end[-1] != '/') {
            if (depth == 64)
                return false;
            strcpy(open[depth++], name);
        }
        p = end;
    }
    return depth == 0;
}

Test(plots, the_checker_of_pictures_rejects_what_is_not_well_formed)
{
    static const char *const wrong[] = {"<svg><g></svg>",   "<svg>a < b</svg>",
                                        "<svg>a & b</svg>", "<svg",
                                        "<svg></svg></g>",  "<svg><a x='<'/></svg>"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(is_well_formed(wrong[i]), "%s", wrong[i]);
    cr_expect(
        is_well_formed("<?xml version='1.0'?><svg a=\"b\"><g/>a &amp; b &lt; c<t></t></svg>"));
}

/* ---- drawn plots ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *texts[8];
} drawn[] = {
    {"op-times",
     {"m5: Op Time by data-set size", "Images", "Op Time, ms", "layer 1 (1x70x70, 12@5)",
      "layer 2 (12x33x33, 24@5)", ">100<", "modelled: virtual GPU, profile h200"}},
    {"speed-up",
     {"m5: speed-up over m2, 100 images", "times as fast", "m5 (yours)", "m5 (reference)",
      "m2 (reference)"}},
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

static void compare_with_golden(const char *folder, const char *name)
{
    char golden[96], got[PATH_MAX];
    snprintf(golden, sizeof golden, "golden/%s", name);
    path_format(got, sizeof got, "%s/plots/%s", folder, name);
    if (accepts())
        shell("cp '%s' '%s'", got, in_tests(golden));
    char *is = text_of_file(got), *should = text_of_file(in_tests(golden));
    cr_expect_str_eq(is, should, "%s is not as in tests/golden (CONVLAB_PLOTS_ACCEPT=1)", name);
    free(is), free(should);
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
    strcpy(strrchr(bench, '/'), "/totals.tsv");
    shell("cp '%s' '%s'", bench, temp_path("totals.tsv"));
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

Test(plots, a_changed_script_draws_what_a_student_wants)
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

/* ---- plots that are not drawn ---------------------------------------------------------------- */

Test(plots, without_data_there_is_a_reason_and_no_picture_stays)
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
    expect_reason("totals.tsv", "model\timages\tsubject\n", "against-cudnn", "no times of cuDNN");
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

Test(plots, without_gnuplot_data_and_script_are_there_all_the_same)
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

/* ---- text ----------------------------------------------------------------------------------- */

Test(plots, text_is_made_harmless_and_short)
{
    char to[64];
    cr_expect_str_eq(plot_text(to, sizeof to, "a\"b`c'd\\e\tf\xc3", 30), "a|b|c\u2019d/e f?");
    cr_expect_str_eq(plot_text(to, sizeof to, "0123456789abcdefghij", 12), "012345..ghij");
    cr_expect_str_eq(plot_text(to, 8, "0123456789abcdefghij", 30), "012..ij");
}

Test(plots, kernels_are_shown_without_parameters)
{
    char to[64];
    static const char *const names[][2] = {
        {"conv(conv_shape, float const *)", "conv"},
        {"void tile<int=8>(float*)", "tile<int=8>"},
        {"(anonymous namespace)::conv(int)", "conv"},
        {"conv_ring<(int)5, (bool)1>(conv_shape)", "conv_ring<5, 1>"},
        {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)",
         "cutlass::Kernel2"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect_str_eq(plot_kernel(to, sizeof to, names[i][0], 30), names[i][1]);
}

/* Computes step() of style.gp as gnuplot does. */
Test(plots, tics_are_few_and_round)
{
    static const double most[] = {1, 8.9, 0.0749, 60, 61, 1e-9, 0};
    FILE *script = fopen(temp_path("steps.gp"), "w");
    fprintf(script, "%s\nset print 'steps'\n", style_gp);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        fprintf(script, "print sprintf('%%.12g', step(%.9g))\n", most[i]);
    fclose(script);
    cr_assert_eq(gnuplot_run(temp_path("."), (const char *const[]){"steps.gp", NULL}, NULL), ST_OK);
    FILE *steps = fopen(temp_path("steps"), "r");
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        double step;
        cr_assert_eq(fscanf(steps, "%lf", &step), 1);
        double digits = step / pow(10, floor(log10(step) + 1e-9));
        cr_expect_leq(most[i] / step, 6.0001);
        cr_expect(fabs(digits - 1) < 1e-9 || fabs(digits - 2) < 1e-9 || fabs(digits - 5) < 1e-9);
    }
    fclose(steps);
}
