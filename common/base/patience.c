#include "base/patience.h"

#include "base/clock.h"
#include "base/parallel.h"

#include <math.h>

enum { MOST = 4 };

/* Callers look several times a second. If one looks later, the machine did not run the caller
 * either (it was suspended, or out of memory). */
static const double longest_s = 1;

struct patience patience_begin(double limit_s)
{
    return (struct patience){limit_s, clock_now_s()};
}

bool patience_takes(struct patience *patience, double now_s, double crowding)
{
    patience->left_s -= fmin(now_s - patience->looked_s, longest_s) / fmin(MOST, crowding);
    patience->looked_s = now_s;
    return patience->left_s > 0;
}

bool patience_lasts(struct patience *patience)
{
    return patience_takes(patience, clock_now_s(), parallel_crowding_now());
}

void patience_skips(struct patience *patience)
{
    patience->looked_s = clock_now_s();
}
