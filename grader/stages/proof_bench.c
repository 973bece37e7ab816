/* Measures the cost of the proof by execution in a short grading (--quick) of each GPU milestone's
 * reference: gradings with and without the proof alternate. Wall time is what a student waits;
 * processor time is what a class pays. */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/median.h"
#include "grader/stages/grading.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { RUNS = 5 };

struct cost {
    double wall_s, cpu_s;
};

static double cpu_s(void)
{
    struct rusage own, others;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    const struct timeval *t[] = {&own.ru_utime, &own.ru_stime, &others.ru_utime, &others.ru_stime};
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)t[i]->tv_sec + 1e-6 * (double)t[i]->tv_usec;
    return sum;
}

/* @return whether all checks passed */
static bool grade(const char *milestone, bool proved, uint64_t seed, FILE *out, struct cost *to)
{
    struct gr_options options = gr_options_default();
    struct gr_result *result = calloc(1, sizeof *result);
    struct st_error err = {0};
    options.milestone = milestone;
    options.reference = options.quick = true;
    options.device = "virtual";
    options.unproved = !proved;
    options.sizes = 1;
    options.images[0] = 100;
    options.seed = seed;
    struct grading g = {.options = &options, .result = result, .out = out};
    const struct cost begin = {clock_now_s(), cpu_s()};
    const enum st_code code = result ? gr_grade(&g, &err) : ST_NO_MEMORY;
    if (code)
        st_print(stderr, "proof_bench", &err);
    bool good = !code;
    for (size_t i = 0; good && i < result->checks; i++)
        good = result->check[i].status != GR_FAIL;
    if (result)
        gr_grading_free(&g);
    *to = (struct cost){clock_now_s() - begin.wall_s, cpu_s() - begin.cpu_s};
    free(result);
    return good;
}

static bool measure(const char *milestone, FILE *out)
{
    double wall[2][RUNS], cpu[2][RUNS];
    for (int run = 0; run < RUNS; run++)
        for (int proved = 0; proved < 2; proved++) {
            struct cost c;
            if (!grade(milestone, proved, (uint64_t)run + 1, out, &c)) {
                fprintf(stderr, "proof_bench: the reference of %s fails\n", milestone);
                return false;
            }
            wall[proved][run] = c.wall_s;
            cpu[proved][run] = c.cpu_s;
        }
    const double w = median_of(wall[0], RUNS).median, c = median_of(cpu[0], RUNS).median,
                 more_w = median_of(wall[1], RUNS).median - w,
                 more_c = median_of(cpu[1], RUNS).median - c;
    printf("  %-4s %6.2f s + %5.2f s (%3.0f%%)   processor %6.2f s + %5.2f s (%3.0f%%)\n",
           milestone, w, more_w, 100 * more_w / w, c, more_c, 100 * more_c / c);
    fflush(stdout);
    return true;
}

static bool has_references(void)
{
    struct st_error err;
    char path[PATH_MAX];
    const char *build = checkout_build(&err);
    path_format(path, sizeof path, "%s/reference/m2/libconv.so", build ? build : "");
    return file_exists(path);
}

/* Measures the milestones given as arguments, or all of them. */
int main(int argc, char **argv)
{
    if (!has_references()) {
        puts(
            "skip: cost of the proof: no references of GPU milestones were built (hint: make setup)");
        return 0;
    }
    FILE *out = fopen("/dev/null", "w");
    bool good = out != NULL;
    printf("The proof by execution in --quick gradings, goal 30%% (median of %d):\n", RUNS);
    for (int i = 1; good && i < argc; i++)
        good = measure(argv[i], out);
    for (int m = 2; good && argc == 1; m++) {
        struct gr_milestone milestone;
        struct st_error err;
        char id[16];
        snprintf(id, sizeof id, "m%d", m);
        if (gr_milestone_find(&milestone, id, &err))
            break;
        good = measure(milestone.id, out);
    }
    if (out)
        fclose(out);
    return good ? 0 : 1;
}
