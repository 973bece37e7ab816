/* The harness process.
 *
 * Under a grader (--serve) it computes convolutions on request. By itself it runs one whole
 * inference and prints the lines the course's reports quote; this is what to put under
 * /usr/bin/time or a profiler:
 *
 *     build/runner --lib build/labs/m1/libconv.so --model two-layer --images 1000
 */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "trace/recorded.h"
#include "runner/gpu.h"
#include "runner/infer.h"
#include "runner/serve.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *lib, *model, *serve;
    enum runner_device device;
    size_t images;
};

static const struct argp_option option_table[] = {
    {"lib", 'l', "FILE", 0, "the lab's library (default: build/labs/m1/libconv.so)", 0},
    {"model", 'm', "NAME", 0, "one-layer-high, one-layer-low, two-layer (default), or a file", 0},
    {"images", 'n', "N", 0, "how many test images, 1 to 10000 (default: 100)", 0},
    {"on", 'o', "DEVICE", 0, "cpu (default), gpu or virtual: what the library is made for", 0},
    {"serve", 's', "FILE", OPTION_HIDDEN, "serve a grader with this library", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    char *end;
    switch (key) {
    case 'l':
        o->lib = arg;
        return 0;
    case 'm':
        o->model = arg;
        return 0;
    case 's':
        o->serve = arg;
        return 0;
    case 'o':
        if (strcmp(arg, "cpu") == 0)
            o->device = RUNNER_ON_CPU;
        else if (strcmp(arg, "gpu") == 0)
            o->device = RUNNER_ON_GPU;
        else if (strcmp(arg, "virtual") == 0)
            o->device = RUNNER_ON_VIRTUAL_GPU;
        else
            argp_error(state, "--on: expected cpu, gpu or virtual, got '%s'", arg);
        return 0;
    case 'n':
        o->images = strtoul(arg, &end, 10);
        if (*end || o->images < 1 || o->images > 10000)
            argp_error(state, "--images: expected a whole number from 1 to 10000, got %s", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A lab and where it runs. */
struct lab {
    lab_function *conv;
    enum runner_device device;
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
        const struct gpu_manner manner = {.virtual_clock = lab->device == RUNNER_ON_VIRTUAL_GPU,
                                          .recorded = recorded_now()};
        /* Not changed: unchecked, x and k are only copied from. */
        gpu_conv(lab->conv, shape, (float *)x, (float *)k, y, manner, &result);
        returned = result.returned;
        if (result.error) {
            fprintf(stderr, "runner: %s\n", result.error_text);
            return result.error;
        }
        printf("Op Time: %.6f%s\n", result.op_time_s,
               lab->device == RUNNER_ON_VIRTUAL_GPU ? " (modelled)" : "");
    }
    fflush(stdout);
    if (returned)
        fprintf(stderr,
                "runner: conv_forward returned %d in convolution %d (hint: 0 means success)\n",
                returned, layer + 1);
    return returned;
}

static enum st_code infer(const struct options *o, struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    char lib[PATH_MAX], name[128];
    path_format(lib, sizeof lib, "%s%s", o->lib ? "" : root,
                o->lib ? o->lib : "/build/labs/m1/libconv.so");
    struct lab lab = {.device = o->device};
    enum st_code code;
    if (lab.device != RUNNER_ON_CPU && (code = gpu_open(name, sizeof name, err)))
        return code;
    if ((code = lab_load(lib, &lab.conv, err)))
        return st_detail(err, ST_WHERE, "%s", lib);
    return infer_and_print(o->model, o->images, timed_conv, &lab, err);
}

int main(int argc, char **argv)
{
    struct options o = {.model = "two-layer", .images = 100};
    const struct argp argp = {.options = option_table,
                              .parser = parse_option,
                              .doc = "Run one inference through a lab's conv_forward()."};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (o.serve)
        return runner_serve(o.serve, o.device);
    struct st_error err;
    enum st_code code = infer(&o, &err);
    if (!code)
        return 0;
    fflush(stdout);
    st_print(stderr, "runner", &err);
    return code == ST_CHILD ? 1 : 2;
}
