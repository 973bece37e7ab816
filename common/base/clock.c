#include "base/clock.h"

#include <time.h>

static double read_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_now_s(void)
{
    return read_s(CLOCK_MONOTONIC);
}

double clock_date_s(void)
{
    return read_s(CLOCK_REALTIME);
}
