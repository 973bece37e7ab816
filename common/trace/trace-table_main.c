/* Prints the columns of a trace as a page of the documentation, in Markdown. */
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *rows, *sources, *text;
} columns[] = {
#define ROW(name, rows, sources, text)      {#name, #rows, sources, text},
#define COMMON(name, type, rows, ncu, text) ROW(name, rows, "all", text)
#define REAL(name, type, rows, ncu, text)                                                          \
    ROW(name, rows, sizeof ncu > 1 ? "CUPTI, ncu" : "CUPTI", text)
#define HARDWARE(name, ncu, text)       ROW(name, KERNELS, "ncu", text)
#define VIRTUAL(name, type, rows, text) ROW(name, rows, "virtual GPU", text)
#define TERM(NAME, name, text)          ROW(name, KERNELS, "virtual GPU", text)
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
        "A trace is a table of a CUDA program's kernels, copies and API calls. ConvLab's programs write it as tab-separated\n"
        "values (TSV) with a header row. `vgpu-run --trace FILE` and `vprof --export-profile FILE` write a trace, and\n"
        "`vprof --import-profile FILE` prints its contents: see [Profiling: `vprof`](profiler.md). You can also open a trace\n"
        "with any spreadsheet. If your program reads traces, find a column by its name, because later versions may add\n"
        "columns.\n\n"
        "Three *recorders* write traces: the virtual GPU (a program that executes kernels on the CPU), CUPTI (NVIDIA's library\n"
        "for profilers) and `ncu` (NVIDIA Nsight Compute). CUPTI and `ncu` record on a real GPU.\n\n"
        "- Times are nanoseconds, and sizes are bytes.\n"
        "- A *sector* has 32 bytes. A *wavefront* is one pass over the 32 banks of shared memory.\n"
        "- A column `busy_...` is the share of the time, from 0 to 1, in which a unit was busy, on the multiprocessor where it\n"
        "  was busiest. For L2 and DRAM, it is the average share of their parts.\n"
        "- Columns of cycles are sums. `active_cycles`, `elapsed_cycles` and `active_warp_cycles` are summed over all\n"
        "  multiprocessors; `scheduler_cycles`, `issue_cycles` and `eligible_warp_cycles` over all schedulers of all\n"
        "  multiprocessors; the columns `stalled_..._cycles` over all warps.\n"
        "- A column `ns_...` has the time that a kernel would take if only one resource of the GPU limited it, according to the\n"
        "  virtual GPU's model of time. The resource `blocks` is the time to start the blocks, one after the other on each\n"
        "  multiprocessor. Section \"Analysis\" of [Profiling: `vprof`](profiler.md#analysis) explains the other resources.\n"
        "- An empty field means \"unknown\" in the columns `bytes`, `occupancy`, `dram_bytes`, `l2_read_bytes`, `l2_write_bytes`\n"
        "  and `l1_wavefronts`. In all other columns of numbers it means 0.\n\n"
        "The first table lists the kinds of rows (column `kind`). In the names of copies, H is the host, D the device, A a\n"
        "CUDA array, and P a peer device, that is, another GPU.\n\n"
        "| kind | meaning of the row |\n|---|---|\n"
        "| `kernel` | a launch of a kernel |\n| `api` | a call of the CUDA runtime or driver |");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (*kinds[i].shown)
            printf("| `%s` | a %s; nvprof's tables show it as `%s` |\n", kinds[i].name,
                   strncmp(kinds[i].name, "copy", 4) == 0 ? "copy" : "fill of memory",
                   kinds[i].shown);
    puts(
        "| `device` | the GPU; `name` is its name |\n"
        "| `command` | the recorded program; `name` is its command line, and `client` its process id |\n"
        "| `process` | a process that used a real GPU; `name` is its program, and `bytes` its process id |\n"
        "| `limit` | a property of a real GPU, as a number; `name` is the property, and `bytes` its value |\n"
        "| `note` | a problem during recording; `name` describes it |\n"
        "| `lost` | records that are missing; `name` is their kind, and `bytes` their number |\n"
        "| `switch` | a call of `cudaProfilerStart` or `cudaProfilerStop` on a real GPU (these calls have no row of kind `api` "
        "there); `name` is the function |\n\n"
        "The second table lists the columns. Its column \"rows\" names the rows that have a value: `every` (all rows), `work`\n"
        "(kernels, copies and fills), `kernels`, `copies` (copies and fills) or `calls` (calls of the API). Its column\n"
        "\"written by\" names the recorders that write values into the column; `all` means all three. `ncu` records only kernels,\n"
        "so its traces have no rows of copies, fills and calls.\n\n"
        "This page is generated from `common/vgpu/api/trace_columns.def` by `make trace-page`. A test checks that the page\n"
        "agrees with that file.\n\n"
        "| column | rows | written by | value |\n|---|---|---|---|");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        printf("| `%s` | ", columns[i].name);
        print_lower(columns[i].rows);
        printf(" | %s | %s |\n", columns[i].sources, columns[i].text);
    }
    return 0;
}
