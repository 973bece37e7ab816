/* Measures the time to load and upscale the test images, as every grading does, and compares it
 * with its goal. */
#include "base/clock.h"
#include "nn/dataset.h"

#include <stdlib.h>

enum { IMAGES = 10000, SIDE = 70, RUNS = 5 };
static const double GOAL_S = 0.5;

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Allocates new memory each time, because its page faults are part of the time that a grading
 * takes. */
static enum st_code run(double *load_s, double *total_s, struct st_error *err)
{
    struct nn_dataset set;
    double start_s = clock_now_s();
    enum st_code code = nn_dataset_load(&set, NULL, NN_TEST, IMAGES, err);
    if (code)
        return code;
    *load_s = clock_now_s() - start_s;
    float *images = malloc(set.images * SIDE * SIDE * sizeof *images);
    if (images)
        nn_dataset_scale(&set, 0, set.images, SIDE, SIDE, images);
    else
        code = st_fail(err, ST_NO_MEMORY, "not enough memory for the images");
    *total_s = clock_now_s() - start_s;
    free(images);
    nn_dataset_free(&set);
    return code;
}

int main(void)
{
    double load_s[RUNS], total_s[RUNS];
    struct st_error err;
    for (int i = 0; i < RUNS; i++) {
        if (run(&load_s[i], &total_s[i], &err)) {
            st_print(stderr, "dataset_bench", &err);
            return 2;
        }
    }
    qsort(load_s, RUNS, sizeof *load_s, by_time);
    qsort(total_s, RUNS, sizeof *total_s, by_time);
    printf(
        "load and upscale %d images to %dx%d: %.3f s (loading %.3f s), median of %d; goal %.1f s:"
        " %s\n",
        IMAGES, SIDE, SIDE, total_s[RUNS / 2], load_s[RUNS / 2], RUNS, GOAL_S,
        total_s[RUNS / 2] < GOAL_S ? "met" : "MISSED");
    return 0;
}
