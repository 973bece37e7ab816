/* Prints the columns of a trace as a page of the documentation, in Markdown. */
#include "trace/trace.h"

#include <stdio.h>

static const struct {
    const char *name, *rows, *sources, *text;
} columns[] = {
#define ROW(name, rows, sources, text)      {#name, #rows, sources, text},
#define COMMON(name, type, rows, ncu, text) ROW(name, rows, "all", text)
#define REAL(name, type, rows, ncu, text)   ROW(name, rows, "CUPTI, ncu", text)
#define HARDWARE(name, ncu, text)           ROW(name, KERNELS, "ncu", text)
#define VIRTUAL(name, type, rows, text)     ROW(name, rows, "virtual GPU", text)
#define TERM(NAME, name, text)              ROW(name, KERNELS, "virtual GPU", text)
#define COLUMN(name, type, rows, ncu, text)                                                        \
    ROW(name, rows, sizeof ncu > 1 ? "virtual GPU, ncu" : "virtual GPU", text)
#include "vgpu/api/trace_columns.def"
};

static const struct {
    const char *name, *shown;
} kinds[] = {
#define KIND(name, text, shown) {text, shown},
    TR_KIND_MAP(KIND)
#undef KIND
};

static void print_lower(const char *text)
{
    for (; *text; text++)
        putchar(*text | ' ');
}

int main(void)
{
    puts(
        "# The columns of a trace\n\n"
        "Generated from `common/vgpu/api/trace_columns.def` by `make trace-page`; a test proves it current.\n\n"
        "A trace is one table of tab-separated values with a header row. `vgpu-run --trace FILE` and\n"
        "`vprof --export-profile FILE` write it; `vprof --import-profile FILE` reads it. A reader finds the columns\n"
        "by their names, in any order. Sectors have 32 bytes; a wavefront is one pass over the 32 banks of shared\n"
        "memory. A column `busy_...` is the part of the time, 0 to 1, in which that unit was busy on the\n"
        "multiprocessor where it was busiest. Times are nanoseconds, sizes bytes.\n\n"
        "| kind | row |\n|---|---|\n"
        "| `kernel` | a launch |\n| `api` | a call of the CUDA runtime or driver |");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (*kinds[i].shown)
            printf("| `%s` | %s |\n", kinds[i].name, kinds[i].shown);
    puts(
        "| `device` | `name`: the GPU |\n"
        "| `command` | `name`: the command line, `client`: its process id |\n"
        "| `process` | a real GPU: `name` of the program, `bytes`: its process id |\n"
        "| `limit` | a real GPU: `name` and `bytes` are one of its figures |\n"
        "| `note` | `name`: a problem during recording |\n"
        "| `lost` | `name`: the kind of the missing records, `bytes`: their number |\n"
        "| `switch` | `name`: `cudaProfilerStart` or `cudaProfilerStop`, which are not calls on a real GPU |\n\n"
        "| column | rows | written by | value |\n|---|---|---|---|");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        printf("| `%s` | ", columns[i].name);
        print_lower(columns[i].rows);
        printf(" | %s | %s |\n", columns[i].sources, columns[i].text);
    }
    return 0;
}
