#include "grader/course/options.h"

#include "base/rng.h"
#include "exercise/exercise.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gr_options gr_options_default(void)
{
    return (struct gr_options){
        .device = "auto", .seed = rng_fresh_seed(), .sizes = 3, .images = {100, 1000, 10000}};
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void sort_sizes(struct gr_options *o)
{
    qsort(o->images, o->sizes, sizeof *o->images, ascending);
    size_t kept = 1;
    for (size_t i = 1; i < o->sizes; i++)
        if (o->images[i] != o->images[kept - 1])
            o->images[kept++] = o->images[i];
    o->sizes = kept;
}

void gr_options_take_images(void *to, char *list, const struct option_row *row,
                            struct argp_state *state)
{
    struct gr_options *o = to;
    (void)row;
    o->sizes = 0;
    o->sizes_given = true;
    for (const char *at = list;; at++) {
        char *end = NULL;
        errno = 0;
        unsigned long n = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (n < 1 || n > GR_MAX_IMAGES || errno || !end || (*end != ',' && *end))
            argp_error(
                state,
                "--images: expected whole numbers from 1 to %d, separated by commas, got '%s'",
                GR_MAX_IMAGES, list);
        if (o->sizes == GR_MAX_SIZES)
            argp_error(state, "--images: expected at most %d sizes, got '%s'", GR_MAX_SIZES, list);
        o->images[o->sizes++] = n;
        at = end;
        if (!*at)
            break;
    }
    sort_sizes(o);
}

/* The data-set size that an item of a milestone needs; 0: any size. */
static size_t size_of(const struct gr_item *item, const char *milestone)
{
    return strcmp(item->id, "speed") == 0
               ? gr_item_speed_images(item, (size_t)exercise_of(milestone)->speed_size)
               : gr_item_images(item);
}

void gr_options_choose(struct gr_options *o, const struct gr_rubric *rubric)
{
    struct gr_options own = {0};
    for (unsigned i = 0; rubric && i < rubric->items_count && own.sizes < GR_MAX_SIZES; i++) {
        const struct gr_item *item = &rubric->items[i];
        const size_t images = size_of(item, rubric->milestone);
        if (images)
            own.images[own.sizes++] = images;
        if (!o->model)
            o->model = gr_item_speed_model(item);
    }
    if (!o->model)
        o->model = GR_DEFAULT_MODEL;
    if (own.sizes && !o->sizes_given) {
        sort_sizes(&own);
        o->sizes = own.sizes;
        memcpy(o->images, own.images, sizeof own.images);
    }
    if (o->quick && !o->sizes_given)
        o->sizes = 1;
}

bool gr_options_ask_for(const struct gr_options *o, const struct gr_item *item)
{
    const bool is_speed = strcmp(item->id, "speed") == 0;
    const size_t images = size_of(item, o->milestone);
    bool asked = !images;
    for (size_t s = 0; s < o->sizes; s++)
        asked = asked || o->images[s] == images;
    return asked && !(is_speed && o->quick);
}

void gr_options_take_device(void *to, char *device, const struct option_row *row,
                            struct argp_state *state)
{
    (void)row;
    if (strcmp(device, "auto") != 0 && strcmp(device, "gpu") != 0 &&
        strcmp(device, "virtual") != 0 && (strncmp(device, "virtual:", 8) != 0 || !device[8]))
        argp_error(state, "--device: expected auto, gpu, virtual or virtual:PROFILE, got '%s'",
                   device);
    *(const char **)to = device;
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
