/* expect: pass */
/* Two hundred threads at the same time, each for some rows of outputs */
#include "conv.h"

#include <pthread.h>

enum { THREADS = 200 };

static struct work {
    const struct conv_shape *s;
    const float *x, *k;
    float *y;
    int number;
} work[THREADS];

static pthread_barrier_t all;

static void *rows(void *argument)
{
    const struct work *job = argument;
    const struct conv_shape *s = job->s;
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    pthread_barrier_wait(&all);
    for (int row = job->number; row < s->B * s->M * H_out; row += THREADS) {
        const int h = row % H_out, m = row / H_out % s->M, b = row / H_out / s->M;
        for (int w = 0; w < W_out; w++) {
            float sum = 0;
            for (int c = 0; c < s->C; c++)
                for (int p = 0; p < s->K; p++)
                    for (int q = 0; q < s->K; q++)
                        sum += job->x[((b * s->C + c) * s->H + h + p) * s->W + w + q] *
                               job->k[((m * s->C + c) * s->K + p) * s->K + q];
            job->y[row * W_out + w] = sum;
        }
    }
    return NULL;
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    pthread_t thread[THREADS];
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){shape, x, k, y, i};
        if (pthread_create(&thread[i], NULL, rows, &work[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&all);
    return 0;
}
