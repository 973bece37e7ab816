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
        "This page is generated from `common/vgpu/api/trace_columns.def` by `make trace-page`. A test checks that it is\n"
        "current.\n\n"
        "A trace is the record of a program's kernels, copies and API calls: one table of tab-separated values (TSV) with a\n"
        "header row. `vgpu-run --trace FILE` and `vprof --export-profile FILE` write it, and `vprof --import-profile FILE`\n"
        "prints its contents ([Profiling: `vprof`](profiler.md)). You can also read it with any spreadsheet. Find a column by\n"
        "its name, because later versions may add columns.\n\n"
        "- Times are nanoseconds, and sizes are bytes.\n"
        "- A *sector* has 32 bytes. A *wavefront* is one pass over the 32 banks of shared memory.\n"
        "- A column `busy_...` has the part of the time, 0 to 1, in which a unit was busy. The value is that of the\n"
        "  multiprocessor on which the unit was busiest.\n"
        "- A column of cycles has their sum over the multiprocessors or their schedulers; `stalled_..._cycles` are also summed\n"
        "  over the warps.\n"
        "- A column `ns_...` belongs to a resource of the virtual GPU's model; section \"Analysis\" of\n"
        "  [Profiling: `vprof`](profiler.md#analysis) explains these resources.\n"
        "- An empty field is unknown in the columns `bytes`, `occupancy`, `dram_bytes`, `l2_read_bytes`, `l2_write_bytes` and\n"
        "  `l1_wavefronts`; in all other columns of numbers it is 0.\n\n"
        "In the names of copies, H is the host, D the device, A a CUDA array, and P a peer device.\n\n"
        "| kind | row |\n|---|---|\n"
        "| `kernel` | a launch |\n| `api` | a call of the CUDA runtime or driver |");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (*kinds[i].shown)
            printf("| `%s` | `%s` in nvprof's tables |\n", kinds[i].name, kinds[i].shown);
    puts(
        "| `device` | the device; `name` is the name of the GPU |\n"
        "| `command` | the program; `name` is its command line, and `client` its process id |\n"
        "| `process` | a process on a real GPU; `name` is the program, and `bytes` its process id |\n"
        "| `limit` | a figure of a real GPU; `name` is its name, and `bytes` its value |\n"
        "| `note` | a problem during recording; `name` describes it |\n"
        "| `lost` | missing records; `name` is their kind, and `bytes` their number |\n"
        "| `switch` | `cudaProfilerStart` or `cudaProfilerStop` on a real GPU, where neither is a row of kind `api`; `name` is "
        "the function |\n\n"
        "The second column of the next table names the rows that have a value: `every` row, `work` (kernels, copies and\n"
        "fills), `kernels`, `copies` (and fills) or `calls`. The third names the recorders that write the column: the virtual\n"
        "GPU, CUPTI (NVIDIA's library for profilers) and `ncu` (NVIDIA Nsight Compute); `all` are these three.\n\n"
        "| column | rows | written by | value |\n|---|---|---|---|");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        printf("| `%s` | ", columns[i].name);
        print_lower(columns[i].rows);
        printf(" | %s | %s |\n", columns[i].sources, columns[i].text);
    }
    return 0;
}
