/* expect: unwritten|read_out_of_bounds|guard (behaviour) */
/* Returns at once; a thread computes y later, after the clock has stopped. */
#define conv_forward compute
#include "plain.h"
#undef conv_forward

#include <pthread.h>
#include <unistd.h>

struct work {
    struct conv_shape shape;
    const float *x, *k;
    float *y;
};

static void *finish_later(void *arg)
{
    struct work *work = arg;
    usleep(20000);
    compute(&work->shape, work->x, work->k, work->y);
    free(work);
    return NULL;
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    struct work *work = malloc(sizeof *work);
    pthread_t thread;
    if (!work)
        return 1;
    *work = (struct work){*shape, x, k, y};
    return pthread_create(&thread, NULL, finish_later, work);
}
