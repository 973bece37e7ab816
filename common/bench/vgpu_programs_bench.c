/* Measures the gain from native code for whole CUDA programs, including short ones: part of `make
 * bench`.
 *
 *     vgpu_programs_bench               the programs of common/vgpu/tests/programs that are built
 *     vgpu_programs_bench PROGRAM...    these instead
 *
 * vgpu-run runs each program with the engines alternately, LEAST to MOST times, short programs more
 * often. Times are wall times from the start of vgpu-run to its end: they include the start of two
 * processes and the program's work on the CPU. An engine's gain is the interpreter's median divided
 * by the engine's; the figure for all programs is the geometric mean.
 *
 * Exit status: 0, or 1 if a program failed. A figure below its goal is marked but is not a failure.
 */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/median.h"
#include "base/process.h"
#include "base/shown_path.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAST = 3, MOST = 25, ENOUGH_S = 2, LIMIT_S = 600 };
static const double mean_goal = 5, slowest_goal = 0.95;
static const double long_s = 0.1; /* a program is short if the interpreter takes less */

static const char *const engines[] = {"interpreter", "auto", "native"};
enum { INTERPRETER, AUTO, NATIVE, ENGINES };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "vgpu_programs_bench: %s: %s\n", what, why);
    exit(1);
}

static double run_s(const char *build, const char *program, const char *engine)
{
    char vgpu_run[PATH_MAX];
    struct process_end end;
    struct st_error err;
    path_format(vgpu_run, sizeof vgpu_run, "%s/vgpu-run", build);
    const char *const argv[] = {vgpu_run, "--engine", engine, program, NULL};
    const double begin_s = clock_now_s();
    if (process_run(&(struct process_options){.argv = argv, .limit_s = LIMIT_S}, &end, &err))
        die(program, err.what);
    if (end.exit_status)
        die(program, end.late ? "takes too long" : "failed");
    return clock_now_s() - begin_s;
}

/** Logarithms of the gains of the programs so far. */
struct gain {
    double sum, sum_long, slowest;
    char slowest_name[64];
    int n, n_long;
};

static void add(struct gain *g, const char *name, double interpreter_s, double engine_s)
{
    const double times = interpreter_s / engine_s;
    g->sum += log(times);
    g->n++;
    if (interpreter_s > long_s) {
        g->sum_long += log(times);
        g->n_long++;
    }
    if (g->n > 1 && times >= g->slowest)
        return;
    g->slowest = times;
    snprintf(g->slowest_name, sizeof g->slowest_name, "%s", name);
}

static void bench(const char *build, const char *program, struct gain gains[ENGINES])
{
    const char *name = path_base(program);
    const double end_s = clock_now_s() + ENOUGH_S;
    double samples[ENGINES][MOST], s[ENGINES];
    size_t n = 0;
    for (; n < LEAST || (n < MOST && clock_now_s() < end_s); n++)
        for (int e = 0; e < ENGINES; e++)
            samples[e][n] = run_s(build, program, engines[e]);
    for (int e = 0; e < ENGINES; e++)
        s[e] = median_of(samples[e], n).median;
    for (int e = AUTO; e < ENGINES; e++)
        add(&gains[e], name, s[INTERPRETER], s[e]);
    printf("%-24s %11.3f %8.3f %8.3f %8.2f %8.2f%s\n", name, s[INTERPRETER], s[AUTO], s[NATIVE],
           s[INTERPRETER] / s[AUTO], s[INTERPRETER] / s[NATIVE],
           s[INTERPRETER] / s[AUTO] < slowest_goal ? "  (auto slower than the interpreter)" : "");
    fflush(stdout);
}

static int is_program(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void bench_all(const char *build, struct gain gains[ENGINES])
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct dirent **entries;
    path_format(folder, sizeof folder, "%s/vgpu/tests/programs", build);
    const int n = scandir(folder, &entries, is_program, alphasort);
    for (int i = 0; i < n; i++) {
        if (path_format(path, sizeof path, "%s/%s", folder, entries[i]->d_name) &&
            access(path, X_OK) == 0)
            bench(build, path, gains);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static void print_gain(const char *engine, const struct gain *g)
{
    const double mean = exp(g->sum / g->n);
    printf("%s: %.2f times as fast as the interpreter (geometric mean of %d programs)", engine,
           mean, g->n);
    if (g->n_long)
        printf(", %.2f for the %d programs that the interpreter runs for more than %.1f s",
               exp(g->sum_long / g->n_long), g->n_long, long_s);
    printf("; slowest %.2f (%s)%s%s\n", g->slowest, g->slowest_name,
           mean < mean_goal ? "  (mean below goal)" : "",
           g->slowest < slowest_goal ? "  (slowest below goal)" : "");
}

int main(int argc, char **argv)
{
    struct gain gains[ENGINES] = {{0}};
    struct st_error err;
    const char *build = checkout_build(&err);
    if (!build)
        die("this program", err.what);
    printf(
        "\nWhole programs on the virtual GPU, wall time in s; medians of %d to %d (goals: %.0f times the interpreter in the mean, none below %.2f)\n\n",
        LEAST, MOST, mean_goal, slowest_goal);
    printf("%-24s %11s %8s %8s %8s %8s\n", "program", engines[INTERPRETER], engines[AUTO],
           engines[NATIVE], "times", "times");
    for (int i = 1; i < argc; i++)
        bench(build, argv[i], gains);
    if (argc == 1)
        bench_all(build, gains);
    if (!gains[AUTO].n) {
        printf("skip: no program is built (hint: make vgpu-programs, which needs nvcc)\n");
        return 0;
    }
    printf("\n");
    for (int e = AUTO; e < ENGINES; e++)
        print_gain(engines[e], &gains[e]);
    return 0;
}
