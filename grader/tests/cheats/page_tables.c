/* Reads single bytes of a very large mapping that it never writes: all its pages are the same page
 * of zeros, but every two megabytes need a page table. */
#define _GNU_SOURCE
#include <sys/mman.h>

enum { STEP = 2 << 20 };
#define BEGIN                                                                                      \
    static int done;                                                                               \
    float sum = 0;                                                                                 \
    const size_t bytes = (size_t)1 << 45;                                                          \
    volatile char *page =                                                                          \
        mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);             \
    for (size_t at = 0; page != MAP_FAILED && !done && at < bytes; at += STEP)                     \
        sum += page[at];                                                                           \
    done = 1;
#include "plain.h"
