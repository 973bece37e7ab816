#include "trace/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct figure_unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {0}};
static const struct figure_unit sizes[] = {
    {"B", 1}, {"KB", 1024.0}, {"MB", 1048576.0}, {"GB", 1073741824.0}, {0}};
static const struct figure_unit rates[] = {
    {"B/s", 1}, {"KB/s", 1024.0}, {"MB/s", 1048576.0}, {"GB/s", 1073741824.0}, {0}};

/* Set by figure_time_choose(); both 0: "auto". */
static bool by_column;
static const struct figure_unit *chosen;

/* The largest unit in which a figure is at least 1; below that, the first unit. */
static const struct figure_unit *unit_of(const struct figure_unit *units, double value)
{
    while (units[1].name && value >= units[1].scale)
        units++;
    return units;
}

/* Writes as many decimals as fit. A figure that rounds up to the next unit gets that unit. */
static void fill(char to[FIGURE_MAX], const struct figure_unit *units, double value, int width)
{
    const struct figure_unit *u = unit_of(units, value);
    for (;; u++) {
        const double figure = value / u->scale;
        const int room = width - (int)strlen(u->name);
        char whole[FIGURE_MAX];
        int decimals = room - 1 - snprintf(whole, sizeof whole, "%llu", (unsigned long long)figure);
        const bool exact = u == units && units != rates && figure == (double)(uint64_t)figure;
        if (decimals < 0 || exact)
            decimals = 0;
        int n = snprintf(to, FIGURE_MAX, "%.*f", decimals, figure);
        const bool rounded_up = u[1].name && strtod(to, NULL) * u->scale >= u[1].scale;
        if (rounded_up)
            continue;
        if (n > room && decimals > 0) /* 9.99996 has one digit before the point, 10.0000 has two */
            n = snprintf(to, FIGURE_MAX, "%.*f", decimals - 1, figure);
        snprintf(to + n, FIGURE_MAX - (size_t)n, "%s", u->name);
        return;
    }
}

void figure_time(char to[FIGURE_MAX], uint64_t ns, int width)
{
    fill(to, times, (double)ns, width);
}

bool figure_time_choose(const char *unit)
{
    const struct figure_unit *u = times;
    const bool automatic = strcmp(unit, "auto") == 0, column = strcmp(unit, "col") == 0;
    while (u->name && strcmp(u->name, unit) != 0)
        u++;
    if (!u->name && !automatic && !column)
        return false;
    chosen = u->name ? u : NULL;
    by_column = column;
    return true;
}

int figure_time_width(void)
{
    return chosen || by_column ? 14 : 8;
}

void figure_time_in(char to[FIGURE_MAX], uint64_t ns, struct figure_unit column)
{
    int decimals = 0;
    if (!chosen && !by_column) {
        figure_time(to, ns, figure_time_width());
        return;
    }
    for (double scale = column.scale; scale > 1; scale /= 1000)
        decimals += 3;
    snprintf(to, FIGURE_MAX, "%.*f%s", decimals, (double)ns / column.scale, column.name);
}

int figure_csv_decimals(struct figure_unit column)
{
    return chosen && column.scale > 1e6 ? 9 : 6;
}

void figure_bytes(char to[FIGURE_MAX], double bytes, int width)
{
    fill(to, sizes, bytes, width);
}

void figure_rate(char to[FIGURE_MAX], double bytes_per_s, int width)
{
    fill(to, rates, bytes_per_s, width);
}

void figure_rate_csv(char to[FIGURE_MAX], double bytes_per_s)
{
    const struct figure_unit *u = unit_of(rates, bytes_per_s);
    snprintf(to, FIGURE_MAX, "%.6f%s", bytes_per_s / u->scale, u->name);
}

void figure_percent(char to[FIGURE_MAX], double percent)
{
    snprintf(to, FIGURE_MAX, "%.2f%%", percent);
}

struct figure_unit figure_time_unit(uint64_t largest_ns)
{
    return chosen ? *chosen : *unit_of(times, (double)largest_ns);
}

struct figure_unit figure_bytes_unit(double largest)
{
    return *unit_of(sizes, largest);
}

struct figure_unit figure_rate_unit(double largest)
{
    return *unit_of(rates, largest);
}
