/* Takes memory that no figure of its process shows: files in memory that no process maps, and
 * shared memory that is unmapped page by page but kept. Its answer is right unless it gets more
 * memory than allowed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEP = 1 << 20, PART = 64 << 20, PARTS = 50 };

static long in_files(void)
{
    static char step[STEP];
    long bytes = 0;
    memset(step, 1, sizeof step);
    for (int i = 0; i < PARTS; i++) {
        const int file = memfd_create("much", 0);
        for (int j = 0; file >= 0 && j < PART / STEP; j++) {
            const long n = write(file, step, sizeof step);
            bytes += n > 0 ? n : 0;
        }
    }
    return bytes;
}

static long shared(int flags, int file)
{
    long bytes = 0;
    for (int i = 0; i < PARTS; i++) {
        char *part = mmap(0, PART, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
        for (long at = 0; part != MAP_FAILED && at < PART; at += STEP, bytes += STEP) {
            memset(part + at, 1, STEP);
            madvise(part + at, STEP, MADV_DONTNEED);
        }
    }
    return bytes;
}
#define BEGIN                                                                                      \
    static long bytes = -1;                                                                        \
    float sum = 0;                                                                                 \
    if (bytes < 0) {                                                                               \
        bytes = in_files();                                                                        \
        bytes += shared(MAP_ANONYMOUS, -1);                                                        \
        bytes += shared(0, open("/dev/zero", O_RDWR));                                             \
    }                                                                                              \
    if (bytes > (3l << 30))                                                                        \
        return 1;
#include "plain.h"
