/* expect: pass */
/* Worker processes write their outputs to a shared mapping, from which the parent copies them. */
#include "conv.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3 };

static void maps(const struct conv_shape *s, const float *x, const float *k, float *y, int first)
{
    const int H_out = s->H - s->K + 1, W_out = s->W - s->K + 1;
    for (int map = first; map < s->B * s->M; map += WORKERS)
        for (int h = 0; h < H_out; h++)
            for (int w = 0; w < W_out; w++) {
                const int b = map / s->M, m = map % s->M;
                float sum = 0;
                for (int c = 0; c < s->C; c++)
                    for (int p = 0; p < s->K; p++)
                        for (int q = 0; q < s->K; q++)
                            sum += x[((b * s->C + c) * s->H + h + p) * s->W + w + q] *
                                   k[((m * s->C + c) * s->K + p) * s->K + q];
                y[(map * H_out + h) * W_out + w] = sum;
            }
}

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    const size_t bytes = sizeof *y * (size_t)shape->B * shape->M * (shape->H - shape->K + 1) *
                         (shape->W - shape->K + 1);
    float *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t worker[WORKERS];
    int failed = shared == MAP_FAILED, status;
    for (int i = 0; i < WORKERS && !failed; i++)
        if ((worker[i] = fork()) == 0) {
            maps(shape, x, k, shared, i);
            _exit(0);
        }
    for (int i = 0; i < WORKERS && !failed; i++)
        failed = worker[i] < 0 || waitpid(worker[i], &status, 0) < 0 || status != 0;
    if (!failed)
        memcpy(y, shared, bytes);
    if (shared != MAP_FAILED)
        munmap(shared, bytes);
    return failed;
}
