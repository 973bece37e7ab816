#include "base/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *number_exact(char to[NUMBER_CHARS], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(to, NUMBER_CHARS, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            break;
    }
    return to;
}

const char *number_short(char to[NUMBER_CHARS], double value, int digits)
{
    if (!isfinite(value) || fabs(value) >= 1e15)
        return strcpy(to, "-");
    if (value == 0)
        return strcpy(to, "0");
    /* Round first: 9.9996 in four digits is 10.00, not 10.000. */
    snprintf(to, NUMBER_CHARS, "%.*e", digits - 1, value);
    int exponent = atoi(strchr(to, 'e') + 1);
    int decimals = digits - 1 - exponent;
    snprintf(to, NUMBER_CHARS, "%.*f", decimals < 0 ? 0 : decimals > 15 ? 15 : decimals, value);
    return to;
}

const char *number_time(char to[NUMBER_CHARS], double seconds, const char *micro)
{
    const struct {
        double s;
        const char *name;
    } unit[] = {{1e-9, "ns"}, {1e-6, micro}, {1e-3, "ms"}, {1, "s"}};
    char number[NUMBER_CHARS];
    size_t i = 0;
    while (i < 3 && seconds >= 999.5 * unit[i].s)
        i++;
    number_short(number, seconds / unit[i].s, 3);
    snprintf(to, NUMBER_CHARS, isfinite(seconds) ? "%.30s %s" : "-", number, unit[i].name);
    return to;
}

bool number_read(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && !errno && isfinite(*value);
}
