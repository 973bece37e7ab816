#include "runner/arena.h"

#include "base/files.h"
#include "nn/oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

struct arena_layout arena_layout_for(const struct conv_shape *shape)
{
    /* y is first: a guard zone separates its end from the inputs. */
    size_t bytes[3] = {nn_conv_y_elems(shape) * sizeof(float),
                       nn_conv_x_elems(shape) * sizeof(float),
                       nn_conv_k_elems(shape) * sizeof(float)};
    struct arena_layout layout;
    size_t at = 0, *tensor[3] = {&layout.y, &layout.x, &layout.k};
    for (int i = 0; i < 3; i++) {
        layout.guard[i] = at;
        at = round_up(at + ARENA_GUARD_BYTES, 256);
        layout.guard_bytes[i] = at - layout.guard[i];
        *tensor[i] = at;
        at += bytes[i];
    }
    layout.guard[3] = at;
    layout.bytes = round_up(at + ARENA_GUARD_BYTES, 4096);
    layout.guard_bytes[3] = layout.bytes - at;
    return layout;
}

/* The maximum size of an arena: that of the machine's memory, or the limit of file sizes if that is
 * lower. Memory is allocated only when it is written. */
static off_t largest(void)
{
    struct rlimit limit;
    const off_t all = (off_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)all;
    return limited ? (off_t)limit.rlim_cur : all;
}

enum st_code arena_open(struct arena *arena, struct st_error *err)
{
    /* The lab also has the descriptor: it must not be able to truncate or resize the memory that
     * the grader uses. */
    *arena = (struct arena){.fd = memfd_create("convlab-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (arena->fd < 0 || ftruncate(arena->fd, largest()) ||
        fcntl(arena->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return st_fail_errno(err, errno, "cannot create shared memory");
    return ST_OK;
}

/* Opens an unnamed file in a folder; -1 if the folder is not on a disk. Older kernels
 * lack O_TMPFILE on the layered file systems of containers. */
static int open_on_disk(const char *folder)
{
    struct statfs system;
    if (!folder || !*folder || statfs(folder, &system) || system.f_type == TMPFS_MAGIC ||
        system.f_type == RAMFS_MAGIC)
        return -1;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char path[PATH_MAX];
    if (fd < 0 && path_format(path, sizeof path, "%s/convlab-XXXXXX", folder)) {
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    return fd;
}

enum st_code arena_open_on_disk(struct arena *arena, struct st_error *err)
{
    const char *const folder[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    *arena = (struct arena){.fd = -1, .on_disk = true};
    for (size_t i = 0; arena->fd < 0 && i < sizeof folder / sizeof *folder; i++)
        arena->fd = open_on_disk(folder[i]);
    return arena->fd >= 0 ? ST_OK : st_fail(err, ST_SYSTEM, "no folder on a disk for a large file");
}

enum st_code arena_reserve(struct arena *arena, size_t bytes, struct st_error *err)
{
    if (bytes <= arena->bytes)
        return ST_OK;
    if (arena->base)
        munmap(arena->base, arena->bytes);
    arena->base = NULL;
    arena->bytes = 0;
    errno = ENOMEM;
    /* Allocates blocks on disk now: a full disk must not crash the grader later. */
    const bool fits = (off_t)bytes <= largest() &&
                      (!arena->on_disk || fallocate(arena->fd, 0, 0, (off_t)bytes) == 0);
    void *base =
        fits ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, 0) : MAP_FAILED;
    if (base == MAP_FAILED) {
        enum st_code code =
            st_fail_errno(err, errno, "cannot get %zu MiB of shared memory", bytes >> 20);
        st_detail(err, ST_HINT, "use fewer images (--images)");
        return code;
    }
    arena->base = base;
    arena->bytes = bytes;
    return ST_OK;
}

size_t arena_memory_bytes(const struct arena *arena)
{
    enum { BLOCK = 512 }; /* unit of st_blocks */
    struct stat file;
    return arena->on_disk || fstat(arena->fd, &file) ? 0 : (size_t)file.st_blocks * BLOCK;
}

bool arena_restore(const struct arena *arena)
{
    struct stat file;
    if (!arena->on_disk || (!fstat(arena->fd, &file) && (size_t)file.st_size >= arena->bytes))
        return true;
    fallocate(arena->fd, 0, 0, (off_t)arena->bytes);
    return false;
}

void arena_close(struct arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->bytes);
    if (arena->fd >= 0)
        close(arena->fd);
    *arena = (struct arena){.fd = -1};
}
