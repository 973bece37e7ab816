#include "grader/place/cores.h"

#include "base/files.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

char *gr_cores_text(const cpu_set_t *set, char *to, size_t room)
{
    size_t used = 0;
    *to = '\0';
    for (int first = 0, last; first < CPU_SETSIZE && used < room; first = last + 1) {
        last = first;
        if (!CPU_ISSET(first, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        const char *comma = used ? "," : "";
        used +=
            (size_t)(last > first ? snprintf(to + used, room - used, "%s%d-%d", comma, first, last)
                                  : snprintf(to + used, room - used, "%s%d", comma, first));
    }
    return to;
}

bool gr_cores_parse(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *at = text;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return false;
        const unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtoul(end + 1, &end, 10);
        if (last < first || last >= CPU_SETSIZE)
            return false;
        for (unsigned long core = first; core <= last; core++)
            CPU_SET(core, set);
        at = end;
        if (*at == '\0' || *at == '\n')
            return true;
        if (*at != ',')
            return false;
    }
}

/* Finds the logical cores of a core's physical core; only the core itself if nothing is known. */
static void siblings_of(const char *folder, int core, cpu_set_t *set)
{
    char path[PATH_MAX], *text = NULL;
    size_t bytes;
    CPU_ZERO(set);
    if (path_format(path, sizeof path, "%s/cpu%d/topology/thread_siblings_list", folder, core) &&
        !file_read(path, 4096, &text, &bytes, NULL) && !gr_cores_parse(text, set))
        CPU_ZERO(set);
    free(text);
    CPU_SET(core, set);
}

bool gr_cores_split(const cpu_set_t *all, const char *siblings, size_t wanted,
                    struct gr_cores *cores)
{
    const size_t least_left = wanted ? 1 : 2, most = (size_t)CPU_COUNT(all);
    if (!wanted)
        wanted = most / 2;
    CPU_ZERO(&cores->timing);
    /* Takes the last cores first, because the first core gets most of a machine's interrupts. */
    for (int core = CPU_SETSIZE - 1; core >= 0 && (size_t)CPU_COUNT(&cores->timing) < wanted;
         core--) {
        cpu_set_t physical;
        if (!CPU_ISSET(core, all))
            continue;
        siblings_of(siblings, core, &physical);
        CPU_AND(&physical, &physical, all);
        CPU_OR(&cores->timing, &cores->timing, &physical);
    }
    CPU_XOR(&cores->others, all, &cores->timing);
    return (size_t)CPU_COUNT(&cores->timing) >= wanted && wanted > 0 &&
           (size_t)CPU_COUNT(&cores->others) >= least_left;
}
