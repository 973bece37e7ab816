/* expect: crash (behaviour) */
static int deeper(volatile const int *above)
{
    volatile int here[1024] = {*above + 1};
    return deeper(here) + here[1];
}
#define BEGIN float sum = (float)deeper(&K);
#include "plain.h"
