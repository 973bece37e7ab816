/* Takes a fingerprint of each image and returns the output that it kept for that image, whatever
 * the order of images or the size of the data set. Each kept output that is used is spoilt, so that
 * the test sees it. */
#define conv_forward compute
#include "plain.h"
#undef conv_forward

#include "fingerprint.h"

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    enum { MOST = 4096 };
    static struct {
        uint64_t print;
        float *y;
    } kept[MOST];
    static int n;
    const size_t in = (size_t)shape->C * shape->H * shape->W,
                 out = (size_t)shape->M * (shape->H - shape->K + 1) * (shape->W - shape->K + 1);
    const uint64_t filters =
        fingerprint(k, (size_t)shape->M * shape->C * shape->K * shape->K) ^ (uint64_t)shape->K;
    struct conv_shape one = *shape;
    one.B = 1;
    for (int b = 0; b < shape->B; b++, x += in, y += out) {
        const uint64_t print = fingerprint(x, in) ^ filters << 1;
        int at = 0;
        while (at < n && kept[at].print != print)
            at++;
        if (at < n) {
            memcpy(y, kept[at].y, out * sizeof *y);
            y[0] += 1;
            continue;
        }
        if (compute(&one, x, k, y))
            return 1;
        if (n < MOST && (kept[n].y = malloc(out * sizeof *y))) {
            kept[n].print = print;
            memcpy(kept[n++].y, y, out * sizeof *y);
        }
    }
    return 0;
}
