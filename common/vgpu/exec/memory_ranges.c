/* Address ranges that the program reserves, and maps memory into (cuMemAddressReserve() and
 * cuMemMap()). A range always consists of one or more adjacent allocations in the list: its runs,
 * the longest parts with the same rights. So adjacent pieces of memory are used as one allocation,
 * and all accesses find the rights where they find bounds:
 *
 *     range:  | no memory | read and write (two pieces)   | read only | no memory |
 *     live:     no          yes                             yes         no
 *
 * The memory itself is a file that may be mapped several times, also in other devices. */
#include "vgpu/exec/vg_device.h"
#include "vgpu/ptx/ptx_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum st_code vg_range_reserve(struct vg_device *d, size_t bytes, size_t alignment,
                              uint64_t *address, struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    const size_t step = alignment > VG_RANGE_UNIT ? alignment : VG_RANGE_UNIT;
    *address = 0;
    if (step & (step - 1) || m->next > m->arena_bytes || step > m->arena_bytes ||
        bytes > m->arena_bytes)
        return st_fail(err, ST_NO_MEMORY, "no address space for a range of %zu bytes", bytes);
    const size_t start = (m->next + step - 1) & ~(step - 1);
    if (start + bytes + VG_GAP_BYTES > m->arena_bytes)
        return st_fail(err, ST_NO_MEMORY, "no address space for a range of %zu bytes", bytes);
    m->list = ptx_grow(m->list, m->count, &m->room, sizeof *m->list);
    m->list[m->count++] = (struct vg_allocation){.address = VG_GLOBAL_BASE + start,
                                                 .bytes = bytes,
                                                 .reserved = true,
                                                 .range = VG_GLOBAL_BASE + start,
                                                 .shadow = m->shadow + start / 8,
                                                 .number = ++m->numbers};
    m->next = start + bytes + VG_GAP_BYTES;
    *address = VG_GLOBAL_BASE + start;
    return ST_OK;
}

/* @return the index of the first run of a range, and the number of its runs. */
static size_t runs_of(const struct vg_memory *m, uint64_t range, size_t *n)
{
    const size_t first = (size_t)(vg_memory_below(m, range) - m->list);
    *n = 0;
    while (first + *n < m->count && m->list[first + *n].range == range)
        ++*n;
    return first;
}

/* Makes room for @p n runs, and removes @p old ones. */
static void runs_resize(struct vg_memory *m, size_t first, size_t old, size_t n)
{
    m->list = ptx_grow(m->list, m->count + n, &m->room, sizeof *m->list);
    memmove(&m->list[first + n], &m->list[first + old], (m->count - first - old) * sizeof *m->list);
    m->count += n;
    m->count -= old;
}

/* Appends a run, or extends the last one. */
static size_t run_add(struct vg_piece *to, size_t n, uint64_t offset, size_t bytes,
                      enum vg_rights rights)
{
    if (!bytes)
        return n;
    if (n && to[n - 1].rights == rights) {
        to[n - 1].bytes += bytes;
        return n;
    }
    to[n] = (struct vg_piece){offset, bytes, rights};
    return n + 1;
}

enum st_code vg_range_show(struct vg_device *d, uint64_t range, const struct vg_piece *pieces,
                           size_t n, struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    size_t old, runs = 0, end = 0;
    const size_t first = runs_of(m, range, &old);
    const struct vg_allocation last = m->list[first + old - 1];
    const size_t bytes = last.address + last.bytes - range;
    struct vg_piece *run = malloc((2 * n + 1) * sizeof *run);
    if (!run)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a list of mapped memory");
    for (size_t i = 0; i < n; i++) {
        runs = run_add(run, runs, end, pieces[i].offset - end, VG_UNMAPPED);
        runs = run_add(run, runs, pieces[i].offset, pieces[i].bytes, pieces[i].rights);
        end = pieces[i].offset + pieces[i].bytes;
    }
    runs = run_add(run, runs, end, bytes - end, VG_UNMAPPED);
    runs_resize(m, first, old, runs);
    for (size_t i = 0; i < runs; i++) {
        const uint64_t address = range + run[i].offset;
        const bool live = run[i].rights >= VG_READ_ONLY;
        m->list[first + i] = (struct vg_allocation){
            .address = address,
            .bytes = run[i].bytes,
            .live = live,
            .reserved = true,
            .range = range,
            .rights = run[i].rights,
            .initialised = live && vg_memory_marked(m, address, run[i].bytes),
            .shadow = m->shadow + (address - VG_GLOBAL_BASE) / 8,
            .number = last.number};
    }
    free(run);
    return ST_OK;
}

void vg_range_free(struct vg_device *d, uint64_t range)
{
    struct vg_memory *m = &d->memory;
    size_t old;
    const size_t first = runs_of(m, range, &old);
    const struct vg_allocation last = m->list[first + old - 1];
    runs_resize(m, first, old, 1);
    m->list[first] = (struct vg_allocation){.address = range,
                                            .bytes = last.address + last.bytes - range,
                                            .range = range,
                                            .shadow = m->shadow + (range - VG_GLOBAL_BASE) / 8,
                                            .number = last.number};
}

enum st_code vg_range_map(struct vg_device *d, uint64_t address, size_t bytes, int fd,
                          bool is_written, struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    if (mmap(vg_memory_host(m, address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             0) == MAP_FAILED)
        return st_fail(err, ST_NO_MEMORY, "%zu bytes of memory cannot be mapped", bytes);
    memset(m->shadow + (address - VG_GLOBAL_BASE) / 8, is_written ? 0xff : 0, bytes / 8);
    return ST_OK;
}

void vg_range_unmap(struct vg_device *d, uint64_t address, size_t bytes)
{
    mmap(vg_memory_host(&d->memory, address), bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void vg_range_mark(struct vg_device *d, uint64_t address, size_t bytes)
{
    vg_memory_mark(&d->memory, address, bytes);
}

bool vg_memory_charge(struct vg_device *d, size_t bytes)
{
    struct vg_memory *m = &d->memory;
    if (bytes > m->limit_bytes || m->used_bytes > m->limit_bytes - bytes)
        return false;
    m->used_bytes += bytes;
    return true;
}

void vg_memory_discharge(struct vg_device *d, size_t bytes)
{
    d->memory.used_bytes -= bytes;
}
