/* Parses times in the forms that people and platforms use. */
#include "grader/standing/deadlines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Parses "Z", "UTC", "+01:00", "-0530", "+1". */
static bool read_zone(const char *text, double *zone_s)
{
    unsigned hours, minutes = 0;
    int used = 0;
    if (strcmp(text, "Z") == 0 || strcasecmp(text, "UTC") == 0 || strcmp(text, "GMT") == 0) {
        *zone_s = 0;
        return true;
    }
    if ((text[0] != '+' && text[0] != '-') ||
        !((sscanf(text + 1, "%2u:%2u%n", &hours, &minutes, &used) == 2 && !text[1 + used]) ||
          (used = 0,
           sscanf(text + 1, "%2u%2u%n", &hours, &minutes, &used) == 2 && !text[1 + used]) ||
          (minutes = 0, used = 0,
           sscanf(text + 1, "%2u%n", &hours, &used) == 1 && !text[1 + used])) ||
        hours > 14 || minutes > 59)
        return false;
    *zone_s = (text[0] == '-' ? -60.0 : 60.0) * (hours * 60 + minutes);
    return true;
}

bool sd_time_read(const char *text, double zone_s, double *seconds)
{
    /* The last two formats are Moodle's, in English. */
    static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S",      "%Y-%m-%d %H:%M:%S",
                                          "%Y-%m-%dT%H:%M",         "%Y-%m-%d %H:%M",
                                          "%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm date = {0};
        double fraction = 0, zone = zone_s;
        const char *end = strptime(text, formats[i], &date);
        if (!end)
            continue;
        if (*end == '.') {
            char *behind;
            fraction = strtod(end, &behind);
            end = behind;
        }
        while (*end == ' ')
            end++;
        if (*end && !read_zone(end, &zone))
            continue;
        *seconds = (double)timegm(&date) + fraction - zone;
        return isfinite(zone);
    }
    return false;
}

const char *sd_time_text(char to[32], double seconds)
{
    const time_t whole = (time_t)seconds;
    struct tm date;
    gmtime_r(&whole, &date);
    strftime(to, 32, "%Y-%m-%d %H:%M UTC", &date);
    return to;
}
