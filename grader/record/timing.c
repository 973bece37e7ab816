#include "grader/record/timing.h"

#include "base/median.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gr_timing *gr_timing_of(struct gr_result *r, enum gr_subject subject, const char *model,
                               int layer, const struct conv_shape *shape)
{
    const struct gr_timing like = {.shape = *shape};
    for (size_t i = 0; i < r->timings; i++) {
        struct gr_timing *t = &r->timing[i];
        if (t->subject == subject && t->layer == layer + 1 &&
            gr_timing_size(t) == gr_timing_size(&like))
            return t;
    }
    if (r->timings == GR_MAX_TIMINGS)
        return NULL;
    struct gr_timing *t = &r->timing[r->timings++];
    *t = (struct gr_timing){.subject = subject,
                            .layer = layer + 1,
                            .shape = *shape,
                            .gmac = nn_conv_macs(shape) * 1e-9};
    snprintf(t->model, sizeof t->model, "%s", model);
    return t;
}

static double median(const double *values, size_t n)
{
    double sorted[GR_MAX_REPEATS];
    memcpy(sorted, values, n * sizeof *sorted);
    return median_of(sorted, n).median;
}

void gr_timing_add(struct gr_timing *t, double op_time_s)
{
    if (!t || t->repeats == GR_MAX_REPEATS)
        return;
    t->op_time_s[t->repeats++] = op_time_s;
    t->median_s = median(t->op_time_s, t->repeats);
}

/* Computed from the median absolute deviation, so that a single disturbed time has no effect. The
 * factors are those of a normal distribution: 1.48 converts this deviation to the standard
 * deviation, 1.25 the error of a mean to the error of a median. */
double gr_timing_uncertainty(const struct gr_timing *t)
{
    double deviation[GR_MAX_REPEATS];
    if (t->repeats < 2 || !(t->median_s > 0))
        return 0;
    for (size_t i = 0; i < t->repeats; i++)
        deviation[i] = fabs(t->op_time_s[i] - t->median_s);
    return 1.96 * 1.25 * 1.48 * median(deviation, t->repeats) / sqrt((double)t->repeats) /
           t->median_s;
}

double gr_timing_text_uncertainty(const char *times)
{
    struct gr_timing timing = {0};
    char *end = NULL;
    for (double seconds; seconds = strtod(times, &end), end != times; times = end)
        gr_timing_add(&timing, seconds);
    return gr_timing_uncertainty(&timing);
}

bool gr_same_time(double a, double a_uncertainty, double b, double b_uncertainty)
{
    static const double LEAST = 0.005;
    const double share = fmax(LEAST, hypot(a_uncertainty, b_uncertainty));
    return a == b || fabs(a - b) <= share * fmin(a, b);
}

struct gr_op_time gr_op_time_sum(const struct gr_result *r, enum gr_subject subject, size_t images)
{
    struct gr_op_time sum = {0};
    double variance = 0;
    for (size_t i = 0; i < r->timings; i++) {
        const struct gr_timing *t = &r->timing[i];
        if (t->subject != subject || gr_timing_size(t) != images || t->repeats == 0)
            continue;
        sum.layers++;
        sum.seconds += t->median_s;
        variance += pow(gr_timing_uncertainty(t) * t->median_s, 2);
    }
    sum.uncertainty = sum.seconds > 0 ? sqrt(variance) / sum.seconds : 0;
    return sum;
}

double gr_op_time_ratio(struct gr_op_time a, struct gr_op_time b, double *uncertainty)
{
    if (uncertainty)
        *uncertainty = hypot(a.uncertainty, b.uncertainty);
    return a.layers > 0 && a.layers == b.layers && b.seconds > 0 ? a.seconds / b.seconds : NAN;
}
