#include "base/progress.h"

#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;
static double last_s;

void progress_show(const char *label, size_t done, size_t total)
{
    double now_s = clock_now_s();
    if (!isatty(STDERR_FILENO) || (shown && now_s - last_s < 0.1))
        return;
    fprintf(stderr, "\r%s %zu/%zu\033[K", label, done, total);
    shown = true;
    last_s = now_s;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
