/* Tests of the text in plots: labels, names of kernels, and the steps between tics. */
#include "base/tests/temp_folder.h"
#include "grader/plots/plot_gnuplot.h"
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdio.h>

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
