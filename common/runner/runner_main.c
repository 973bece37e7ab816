/* The harness process.
 *
 * Under a grader (--serve) it computes convolutions on request. Run alone, it runs a whole
 * inference and prints the lines that the course's reports quote. Run it under /usr/bin/time or a
 * profiler:
 *
 *     build/runner --lib build/labs/m1/libconv.so --model two-layer --images 1000 */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "nn/oracle.h"
#include "trace/recorded.h"
#include "runner/gpu.h"
#include "runner/infer.h"
#include "runner/serve.h"

#include <stdio.h>
#include <stdlib.h>

struct options {
    const char *lib, *model, *serve, *exercise;
    enum runner_device device;
    size_t images;
};

static const char *const devices[] = {
    [RUNNER_ON_CPU] = "cpu", [RUNNER_ON_GPU] = "gpu", [RUNNER_ON_VIRTUAL_GPU] = "virtual", NULL};

static const struct option_row rows[] = {
    {"lib", 'l', "FILE", "the lab's library (default: build/labs/m1/libconv.so)",
     OPTION_TEXT(struct options, lib)},
    {"model", 'm', "NAME",
     "one-layer-high, one-layer-low, two-layer (default), two-layer-86, or a file",
     OPTION_TEXT(struct options, model)},
    {"images", 'n', "N", "number of test images, 1 to 10000 (default: 100)",
     OPTION_NUMBER(struct options, images, 1, 10000)},
    {"on", 'o', "DEVICE", "cpu (default), gpu or virtual: the device that the library needs",
     OPTION_CHOICE(struct options, device, devices)},
    {"serve", 's', "FILE", NULL, OPTION_TEXT(struct options, serve)}, /* for graders */
    {"exercise", 0, "NAME", NULL, OPTION_TEXT(struct options, exercise)},
    {0}};

/* A lab and its device. */
struct lab {
    lab_function *conv;
    enum runner_device device;
    bool host_tensors; /* its time includes copies */
};

static int timed_conv(void *context, int layer, const struct conv_shape *shape, const float *x,
                      const float *k, float *y)
{
    const struct lab *lab = context;
    int returned;
    if (lab->device == RUNNER_ON_CPU) {
        double begin_s = clock_now_s();
        returned = lab->conv(shape, x, k, y);
        printf("Op Time: %.6f\n", clock_now_s() - begin_s);
    } else {
        struct gpu_result result;
        const struct gpu_manner manner = {.host_tensors = lab->host_tensors,
                                          .virtual_clock = lab->device == RUNNER_ON_VIRTUAL_GPU,
                                          .recorded = recorded_now()};
        /* The casts are safe: gpu_conv() changes x and k only if checked. */
        gpu_conv(lab->conv, shape, (float *)x, (float *)k, y, manner, &result);
        returned = result.returned;
        if (result.error) {
            fprintf(stderr, "runner: %s\n", result.error_text);
            return result.error;
        }
        const char *clock = lab->device == RUNNER_ON_VIRTUAL_GPU ? " (modelled)" : "";
        printf("Layer Time: %.6f%s\n", result.layer_time_s, clock);
        if (!lab->host_tensors)
            printf("Op Time: %.6f%s\n", result.op_time_s, clock);
    }
    fflush(stdout);
    if (returned)
        fprintf(
            stderr,
            "runner: the lab's function returned %d in convolution %d (hint: 0 means success)\n",
            returned, layer + 1);
    return returned;
}

/* Runs one size of an exercise that has no network, with random tensors. */
static enum st_code multiply(const struct exercise *exercise, int size, struct lab *lab,
                             struct st_error *err)
{
    const struct conv_shape s = exercise->square(size);
    const size_t x = nn_conv_x_elems(&s), k = nn_conv_k_elems(&s), y = nn_conv_y_elems(&s);
    struct rng rng = rng_make(1, 0);
    float *data = malloc((x + k + y) * sizeof *data);
    if (!data)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for matrices of %d rows", size);
    rng_fill(&rng, data, x + k, -1, 1);
    const int returned = timed_conv(lab, 0, &s, data, data + x, data + x + k);
    free(data);
    return returned ? st_fail(err, ST_CHILD, "%s failed", exercise->entry) : ST_OK;
}

static enum st_code infer(const struct options *o, struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    char lib[PATH_MAX], name[128];
    path_format(lib, sizeof lib, "%s%s", o->lib ? "" : root,
                o->lib ? o->lib : "/build/labs/m1/libconv.so");
    const struct exercise *exercise = exercise_of(o->exercise);
    struct lab lab = {.device = o->device, .host_tensors = exercise->host_tensors};
    enum st_code code;
    if (lab.device != RUNNER_ON_CPU && (code = gpu_open(lib, name, sizeof name, err)))
        return code;
    if ((code = lab_load(lib, exercise, &lab.conv, err)))
        return st_detail(err, ST_WHERE, "%s", lib);
    return exercise->square ? multiply(exercise, (int)o->images, &lab, err)
                            : infer_and_print(o->model, o->images, timed_conv, &lab, err);
}

int main(int argc, char **argv)
{
    struct options o = {.model = "two-layer", .images = 100};
    static const struct option_table table = {
        .rows = rows, .about = "Run one inference through a lab's conv_forward()."};
    options_parse(&table, argc, argv, &o);
    if (o.serve)
        return runner_serve(o.serve, exercise_of(o.exercise), o.device);
    struct st_error err;
    enum st_code code = infer(&o, &err);
    if (!code)
        return 0;
    fflush(stdout);
    st_print(stderr, "runner", &err);
    return code == ST_CHILD ? 1 : 2;
}
