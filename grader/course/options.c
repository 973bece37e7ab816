#include "grader/course/options.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys of children are apart from those of every command that has them. */
enum { KEY_DEVICE = 1024, KEY_MODEL, KEY_IMAGES };

static const struct argp_option common_table[] = {
    {"device", KEY_DEVICE, "DEVICE", 0,
     "gpu, virtual or virtual:PROFILE; default auto: a GPU if there is one, else the virtual GPU "
     "(m1 "
     "runs on the CPU)",
     0},
    {"model", KEY_MODEL, "NAME", 0,
     "one-layer-high, one-layer-low, two-layer (default), or the path of a .safetensors file", 0},
    {"images", KEY_IMAGES, "N,N,...", 0,
     "data-set sizes (default: 100,1000,10000; on the virtual GPU 100)", 0},
    {0},
};

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void read_images(struct gr_options *o, const char *list, struct argp_state *state)
{
    o->sizes = 0;
    o->sizes_given = true;
    for (const char *at = list;; at++) {
        char *end = NULL;
        errno = 0;
        unsigned long n = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (n < 1 || n > GR_MAX_IMAGES || errno || !end || (*end != ',' && *end))
            argp_error(
                state,
                "--images: expected whole numbers from 1 to %d with commas between, got '%s'",
                GR_MAX_IMAGES, list);
        if (o->sizes == GR_MAX_SIZES)
            argp_error(state, "--images: expected at most %d sizes, got '%s'", GR_MAX_SIZES, list);
        o->images[o->sizes++] = n;
        at = end;
        if (!*at)
            break;
    }
    qsort(o->images, o->sizes, sizeof *o->images, ascending);
    size_t kept = 1;
    for (size_t i = 1; i < o->sizes; i++)
        if (o->images[i] != o->images[kept - 1])
            o->images[kept++] = o->images[i];
    o->sizes = kept;
}

static void read_device(struct gr_options *o, const char *device, struct argp_state *state)
{
    if (strcmp(device, "auto") != 0 && strcmp(device, "gpu") != 0 &&
        strcmp(device, "virtual") != 0 && (strncmp(device, "virtual:", 8) != 0 || !device[8]))
        argp_error(state, "--device: expected auto, gpu, virtual or virtual:PROFILE, got '%s'",
                   device);
    o->device = device;
}

char *gr_options_images(const struct gr_options *o, char to[GR_IMAGES_CHARS])
{
    size_t used = 0;
    *to = '\0';
    for (size_t i = 0; i < o->sizes; i++)
        used += (size_t)snprintf(to + used, GR_IMAGES_CHARS - used, "%s%zu", i ? "," : "",
                                 o->images[i]);
    return to;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct gr_options *o = state->input;
    switch (key) {
    case KEY_DEVICE:
        read_device(o, arg, state);
        return 0;
    case KEY_MODEL:
        o->model = arg;
        return 0;
    case KEY_IMAGES:
        read_images(o, arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp gr_options_common = {.options = common_table, .parser = parse_common};

void gr_options_seed(struct gr_options *o, const char *seed, struct argp_state *state)
{
    char *end;
    errno = 0;
    o->seed = strtoull(seed, &end, 10);
    if (!isdigit((unsigned char)*seed) || *end || errno)
        argp_error(state, "--seed: expected a whole number, got '%s'", seed);
}
