#include "base/cost.h"

#include "base/files.h"

#include <stdio.h>
#include <sys/resource.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

struct cost cost_of(const struct rusage *used, double elapsed_s)
{
    return (struct cost){.user_s = seconds(used->ru_utime),
                         .system_s = seconds(used->ru_stime),
                         .elapsed_s = elapsed_s,
                         .max_resident_kib = used->ru_maxrss,
                         .inputs = used->ru_inblock,
                         .outputs = used->ru_oublock,
                         .major_faults = used->ru_majflt,
                         .minor_faults = used->ru_minflt,
                         .swaps = used->ru_nswap};
}

const char *cost_text(char to[256], const struct cost *c)
{
    /* Like GNU time: hundredths of a second, truncated; hours only if needed. */
    const long hundredths = (long)(c->elapsed_s * 100);
    const long minutes = hundredths / 6000;
    char elapsed[48];
    if (minutes >= 60)
        snprintf(elapsed, sizeof elapsed, "%ld:%02ld:%02ld", minutes / 60, minutes % 60,
                 hundredths / 100 % 60);
    else
        snprintf(elapsed, sizeof elapsed, "%ld:%02ld.%02ld", minutes, hundredths / 100 % 60,
                 hundredths % 100);
    const double busy = c->user_s + c->system_s;
    snprintf(to, 256,
             "%.2fuser %.2fsystem %selapsed %.0f%%CPU (0avgtext+0avgdata %ldmaxresident)k\n"
             "%ldinputs+%ldoutputs (%ldmajor+%ldminor)pagefaults %ldswaps",
             c->user_s, c->system_s, elapsed, c->elapsed_s > 0 ? 100 * busy / c->elapsed_s : 0.0,
             c->max_resident_kib, c->inputs, c->outputs, c->major_faults, c->minor_faults,
             c->swaps);
    return to;
}

enum st_code cost_write(const char *path, const struct cost *cost, struct st_error *err)
{
    char text[256];
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fprintf(out.f, "%s\n", cost_text(text, cost));
    return file_out_commit(&out, err);
}
