/* Global memory: one reservation of address space; the system provides memory for the pages that
 * are touched. Allocations are placed upwards with gaps between them. Freed ones stay recorded
 * (use_after_free) until the reservation is used up; then the oldest freed range that fits is
 * reused. */
#include "vgpu/exec/proof.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* missing in glibc before 2.35 */
#endif

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

enum st_code vg_memory_open(struct vg_memory *m, size_t limit_bytes, struct st_error *err)
{
    memset(m, 0, sizeof *m);
    m->limit_bytes = limit_bytes;
    /* Twice the limit leaves space for the gaps. If the system refuses, request a smaller
     * reservation. */
    for (size_t bytes = (2 * limit_bytes + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES; bytes >= 1 << 26;
         bytes = bytes / 2 / PAGE_BYTES * PAGE_BYTES) {
        m->arena = reserve(bytes);
        m->shadow = m->arena ? reserve(bytes / 8) : NULL;
        if (m->shadow) {
            m->arena_bytes = bytes;
            m->next = VG_GAP_BYTES;
            return ST_OK;
        }
        if (m->arena)
            munmap(m->arena, bytes);
    }
    return st_fail(err, ST_NO_MEMORY, "no address space for the virtual GPU's memory");
}

void vg_memory_close(struct vg_memory *m)
{
    if (m->arena)
        munmap(m->arena, m->arena_bytes);
    if (m->shadow)
        munmap(m->shadow, m->arena_bytes / 8);
    free(m->list);
    memset(m, 0, sizeof *m);
}

static size_t room_of(const struct vg_memory *m, size_t i)
{
    size_t end = i + 1 < m->count ? m->list[i + 1].address - VG_GLOBAL_BASE : m->next;
    return end - (m->list[i].address - VG_GLOBAL_BASE) - VG_GAP_BYTES;
}

static void clear_shadow(struct vg_memory *m, uint64_t address, size_t bytes)
{
    memset(m->shadow + (address - VG_GLOBAL_BASE) / 8, 0, (bytes + 7) / 8);
}

/* Gives the system advice about the whole pages in a range. */
static void advise(void *memory, size_t first, size_t end, int advice)
{
    first = (first + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    end = end / PAGE_BYTES * PAGE_BYTES;
    if (end > first)
        madvise((char *)memory + first, end - first, advice);
}

/* Huge pages for large tensors: with small pages the first touch takes longer than a copy. */
static void use_huge_pages(struct vg_memory *m, const struct vg_allocation *a)
{
    const size_t first = a->address - VG_GLOBAL_BASE, end = first + a->bytes;
    if (a->bytes >= 2 * HUGE_PAGE_BYTES)
        advise(m->arena, first, end, MADV_HUGEPAGE);
    if (a->bytes / 8 >= 2 * HUGE_PAGE_BYTES)
        advise(m->shadow, first / 8, end / 8, MADV_HUGEPAGE);
}

/* Returns whole pages to the system; they read as zeros if the range is reused. */
static void give_back(struct vg_memory *m, const struct vg_allocation *a)
{
    const size_t first = a->address - VG_GLOBAL_BASE, end = first + a->bytes;
    advise(m->arena, first, end, MADV_DONTNEED);
    advise(m->shadow, first / 8, end / 8, MADV_DONTNEED);
}

enum st_code vg_memory_take(struct vg_memory *m, size_t bytes, const char *name, uint64_t *address,
                            struct st_error *err)
{
    *address = 0;
    size_t room = (bytes + VG_GAP_BYTES + 511) / 512 * 512;
    if (bytes > m->limit_bytes || m->used_bytes > m->limit_bytes - bytes) {
        st_fail(err, ST_NO_MEMORY, "the GPU does not have enough memory");
        st_detail(err, ST_GOT, "%zu bytes requested, %zu of %zu in use", bytes, m->used_bytes,
                  m->limit_bytes);
        return ST_NO_MEMORY;
    }
    struct vg_allocation *a = NULL;
    if (m->next + room <= m->arena_bytes) {
        m->list = ptx_grow(m->list, m->count, &m->room, sizeof *m->list);
        a = &m->list[m->count++];
        memset(a, 0, sizeof *a);
        a->address = VG_GLOBAL_BASE + m->next;
        a->shadow = m->shadow + m->next / 8;
        m->next += room;
    } else {
        for (size_t i = 0; i < m->count && !a; i++)
            if (!m->list[i].live && !m->list[i].reserved && room_of(m, i) >= bytes)
                a = &m->list[i];
        if (!a)
            return st_fail(err, ST_NO_MEMORY, "the GPU's memory is too fragmented");
        clear_shadow(m, a->address, bytes);
    }
    a->bytes = bytes;
    a->live = true;
    a->reserved = false;
    a->range = 0;
    a->rights = VG_UNMAPPED;
    a->initialised = bytes == 0;
    a->touched = false;
    a->copy_line = 0;
    a->populated = 0;
    a->loaded_by = a->stored_by = 0;
    a->number = name ? 0 : ++m->numbers;
    a->name[0] = '\0';
    if (name) {
        size_t n = strlen(name) < sizeof a->name - 1 ? strlen(name) : sizeof a->name - 1;
        memcpy(a->name, name, n);
        a->name[n] = '\0';
    }
    use_huge_pages(m, a);
    m->used_bytes += bytes;
    *address = a->address;
    return ST_OK;
}

struct vg_allocation *vg_memory_below(const struct vg_memory *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &m->list[low - 1] : NULL;
}

void vg_allocation_text(const struct vg_allocation *a, char *to, size_t room)
{
    if (a->range)
        snprintf(to, room, "the %zu-byte range #%u from cuMemAddressReserve", a->bytes, a->number);
    else if (a->number)
        snprintf(to, room, "the %zu-byte allocation from cudaMalloc #%u", a->bytes, a->number);
    else
        snprintf(to, room, "the %zu-byte variable %s", a->bytes, a->name);
}

const char *vg_range_refusal(const struct vg_allocation *a, bool is_write)
{
    if (!a->range || !a->reserved)
        return NULL;
    return a->rights == VG_UNMAPPED    ? "where no memory is mapped (cuMemMap)"
           : a->rights == VG_NO_ACCESS ? "where the memory has no access rights (cuMemSetAccess)"
           : a->rights == VG_READ_ONLY && is_write
               ? "where the memory may only be read (cuMemSetAccess)"
               : NULL;
}

/* Workers may mark adjacent bytes at the same time. They share only shadow bytes that are partly
 * marked, whose bits are set atomically. */
void vg_memory_mark(struct vg_memory *m, uint64_t address, size_t bytes)
{
    uint64_t first = address - VG_GLOBAL_BASE, end = first + bytes;
    while (first < end && (first & 7 || end - first < 8)) {
        uint64_t stop = (first | 7) + 1 < end ? (first | 7) + 1 : end;
        uint8_t bits = (uint8_t)(((1u << (stop - first)) - 1) << (first & 7));
        uint8_t *s = &m->shadow[first / 8];
        if ((__atomic_load_n(s, __ATOMIC_RELAXED) & bits) != bits)
            __atomic_fetch_or(s, bits, __ATOMIC_RELAXED);
        first = stop;
    }
    size_t whole = (end - first) / 8;
    if (whole <= 16)
        for (size_t i = 0; i < whole; i++)
            m->shadow[first / 8 + i] = 0xff;
    else
        memset(m->shadow + first / 8, 0xff, whole);
    first += whole * 8;
    if (first < end)
        __atomic_fetch_or(&m->shadow[first / 8], (uint8_t)((1u << (end - first)) - 1),
                          __ATOMIC_RELAXED);
}

/* @return whether these bytes of the shadow are fully marked. Compares each byte with the one
 * before by memcmp(), which is vectorised: the largest tensor has 260 MB of shadow. */
static bool all_marked(const uint8_t *shadow, size_t bytes)
{
    return bytes == 0 || (shadow[0] == 0xff && memcmp(shadow, shadow + 1, bytes - 1) == 0);
}

bool vg_memory_marked(const struct vg_memory *m, uint64_t address, size_t bytes)
{
    uint64_t first = address - VG_GLOBAL_BASE, end = first + bytes;
    for (; first < end && (first & 7 || end - first < 8); first = (first | 7) + 1) {
        uint64_t stop = (first | 7) + 1 < end ? (first | 7) + 1 : end;
        uint8_t bits = (uint8_t)(((1u << (stop - first)) - 1) << (first & 7));
        if ((__atomic_load_n(&m->shadow[first / 8], __ATOMIC_RELAXED) & bits) != bits)
            return false;
        if (stop == end)
            return true;
    }
    if (!all_marked(m->shadow + first / 8, (end - first) / 8))
        return false;
    first += (end - first) / 8 * 8;
    uint8_t bits = (uint8_t)((1u << (end - first)) - 1);
    return first >= end || (m->shadow[first / 8] & bits) == bits;
}

uint32_t vg_memory_unset(const struct vg_memory *m, uint64_t address, size_t bytes)
{
    uint32_t unset = 0;
    for (size_t i = 0; i < bytes; i++)
        unset |= (uint32_t)!vg_memory_marked(m, address + i, 1) << i;
    return unset;
}

enum vg_lateness vg_lateness_of(const struct vg_memory *m, uint64_t address, size_t bytes)
{
    const uint32_t unset = vg_memory_unset(m, address, bytes);
    const uint64_t at = address + (unset ? (uint64_t)__builtin_ctz(unset) : 0);
    return m->is_late ? m->is_late(m->late_context, at) : VG_NOT_LATE;
}

/* Tracks an allocation that was fully initialised byte by byte. */
static void track(struct vg_memory *m, struct vg_allocation *a)
{
    if (a->initialised)
        vg_memory_mark(m, a->address, a->bytes);
    a->initialised = false;
    a->touched = true;
}

uint8_t *vg_memory_tracked(struct vg_device *d, uint64_t address, uint64_t bytes)
{
    struct vg_allocation *a = vg_memory_below(&d->memory, address);
    if (!a || !a->live || a->address != address || a->bytes != bytes)
        return NULL;
    track(&d->memory, a);
    return a->shadow;
}

bool vg_memory_hide(struct vg_device *d, uint64_t address, uint64_t bytes)
{
    struct vg_memory *m = &d->memory;
    struct vg_allocation *a = vg_memory_below(m, address);
    if (!a || !a->live || a->shared || a->exported || a->range ||
        address - a->address >= a->bytes || bytes > a->bytes - (address - a->address))
        return false;
    if (!a->initialised && !vg_memory_marked(m, address, bytes))
        return false;
    track(m, a);
    for (uint64_t at = address - VG_GLOBAL_BASE, end = at + bytes; at < end;) {
        if (at & 7 || end - at < 8) {
            m->shadow[at / 8] &= (uint8_t) ~(1u << at % 8);
            at++;
        } else {
            memset(m->shadow + at / 8, 0, (end - at) / 8);
            at += (end - at) / 8 * 8;
        }
    }
    return true;
}

void vg_memory_show(struct vg_device *d, uint64_t address, uint64_t bytes)
{
    vg_memory_mark(&d->memory, address, bytes);
}

bool vg_use_of(const struct vg_device *d, uint64_t address, struct vg_use *use)
{
    const struct vg_allocation *a = vg_memory_below(&d->memory, address);
    if (!a || !a->live || address - a->address >= a->bytes)
        return false;
    *use = (struct vg_use){.address = a->address,
                           .bytes = a->bytes,
                           .loaded_by = a->loaded_by,
                           .stored_by = a->stored_by,
                           .is_shared = a->shared || a->exported || a->range};
    return true;
}

void vg_memory_unmark(struct vg_device *d, uint64_t address, uint32_t bytes, int line)
{
    struct vg_memory *m = &d->memory;
    struct vg_allocation *a = vg_memory_below(m, address);
    if (a->shared || a->exported) /* the host or another device may also write to it */
        return;
    pthread_mutex_lock(&d->mutex);
    track(m, a);
    for (uint64_t at = address - VG_GLOBAL_BASE; bytes; bytes >>= 1, at++)
        if (bytes & 1)
            __atomic_fetch_and(&m->shadow[at / 8], (uint8_t) ~(1u << at % 8), __ATOMIC_RELAXED);
    if (line && (!a->copy_line || line < a->copy_line))
        a->copy_line = line;
    pthread_mutex_unlock(&d->mutex);
}

void vg_memory_settle(struct vg_memory *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct vg_allocation *a = &m->list[i];
        if (!a->live || a->initialised || !a->touched)
            continue;
        a->touched = false;
        a->initialised = vg_memory_marked(m, a->address, a->bytes);
    }
}

/* ---- functions for the owner of a device ----------------------------------------------------- */

enum st_code vg_memory_alloc(struct vg_device *d, size_t bytes, uint64_t *address,
                             struct st_error *err)
{
    return vg_memory_take(&d->memory, bytes, NULL, address, err);
}

enum st_code vg_memory_alloc_shared(struct vg_device *d, int fd, size_t bytes, uint64_t *address,
                                    struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    size_t mapped = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    size_t start = (m->next + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    *address = 0;
    if (bytes > m->arena_bytes || start + mapped + 2 * VG_GAP_BYTES > m->arena_bytes)
        return st_fail(err, ST_NO_MEMORY, "no address space for %zu bytes of shared memory", bytes);
    m->next = start;
    enum st_code code = vg_memory_take(m, bytes, NULL, address, err);
    if (code != ST_OK)
        return code;
    struct vg_allocation *a = vg_memory_below(m, *address);
    if (mmap(vg_memory_host(m, *address), mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             fd, 0) == MAP_FAILED) {
        vg_memory_free(d, *address, NULL);
        return st_fail(err, ST_NO_MEMORY, "%zu bytes of shared memory cannot be mapped", bytes);
    }
    a->shared = true;
    a->initialised = true;
    return ST_OK;
}

/* Replaces the pages of a file by private memory. */
static void take_back(struct vg_memory *m, struct vg_allocation *a)
{
    const size_t before = a->address % PAGE_BYTES;
    const size_t mapped = (before + a->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    mmap(vg_memory_host(m, a->address - before), mapped, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    a->shared = a->exported = false;
}

enum st_code vg_memory_free(struct vg_device *d, uint64_t address, struct st_error *err)
{
    struct vg_allocation *a = vg_memory_below(&d->memory, address);
    if (!a || a->address != address || !a->live || !a->number || a->range) {
        st_fail(err, ST_NOT_FOUND, "no allocation begins at this address");
        st_detail(err, ST_HINT, "free each pointer from cudaMalloc once");
        st_detail(err, ST_GOT, "0x%llx%s", (unsigned long long)address,
                  a && a->address == address && !a->live ? " (already freed)" : "");
        return ST_NOT_FOUND;
    }
    a->live = false;
    d->memory.used_bytes -= a->bytes;
    if (a->shared || a->exported)
        take_back(&d->memory, a);
    proof_written(d, a, address, NULL, a->bytes);
    free(a->seen);
    a->seen = NULL;
    give_back(&d->memory, a);
    return ST_OK;
}

/* ---- memory of graphs ------------------------------------------------------------------------ */

static struct vg_allocation *reserved_at(const struct vg_device *d, uint64_t address)
{
    struct vg_allocation *a = vg_memory_below(&d->memory, address);
    return a && a->address == address && a->reserved && !a->range ? a : NULL;
}

enum st_code vg_memory_reserve(struct vg_device *d, size_t bytes, uint64_t *address,
                               struct st_error *err)
{
    enum st_code code = vg_memory_alloc(d, bytes, address, err);
    if (code != ST_OK)
        return code;
    struct vg_allocation *a = vg_memory_below(&d->memory, *address);
    a->reserved = true;
    a->live = false;
    d->memory.used_bytes -= bytes;
    return ST_OK;
}

bool vg_memory_is_reserved(const struct vg_device *d, uint64_t address, bool *live)
{
    const struct vg_allocation *a = reserved_at(d, address);
    *live = a && a->live;
    return a != NULL;
}

enum st_code vg_memory_occupy(struct vg_device *d, uint64_t address, size_t *bytes,
                              struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    struct vg_allocation *a = reserved_at(d, address);
    if (!a || a->live)
        return st_fail(err, ST_USAGE, "this memory of a graph is already allocated");
    if (m->used_bytes > m->limit_bytes - a->bytes)
        return st_fail(err, ST_NO_MEMORY, "the GPU does not have enough memory");
    a->live = true;
    a->initialised = a->bytes == 0;
    a->touched = false;
    clear_shadow(m, address, a->bytes);
    m->used_bytes += a->bytes;
    *bytes = a->bytes;
    return ST_OK;
}

void vg_memory_release(struct vg_device *d, uint64_t address)
{
    struct vg_allocation *a = reserved_at(d, address);
    if (a)
        a->reserved = false;
}

static enum st_code check_range(struct vg_device *d, uint64_t address, size_t bytes, bool is_write,
                                struct vg_allocation **a, struct st_error *err)
{
    *a = vg_memory_below(&d->memory, address);
    if (vg_memory_permits(*a, address, bytes, is_write))
        return ST_OK;
    if (address < VG_GLOBAL_BASE) {
        st_fail(err, ST_NOT_FOUND, "%zu bytes at 0x%llx are not in device memory", bytes,
                (unsigned long long)address);
        st_detail(
            err, ST_HINT,
            "is this %s? check the order of the pointers and the direction of a copy; a symbol "
            "is a __device__ or __constant__ variable",
            address < 4096 ? "a null pointer" : "a host pointer");
        return ST_NOT_FOUND;
    }
    const char *refusal =
        *a && address - (*a)->address < (*a)->bytes ? vg_range_refusal(*a, is_write) : NULL;
    if (refusal)
        return st_fail(err, ST_NOT_FOUND, "%zu bytes at 0x%llx are in a reserved range, %s", bytes,
                       (unsigned long long)address, refusal);
    st_fail(err, ST_NOT_FOUND, "%zu bytes at 0x%llx are not all inside one allocation", bytes,
            (unsigned long long)address);
    if (*a && !(*a)->live && address - (*a)->address < (*a)->bytes)
        st_detail(err, ST_GOT, "memory after %s()", (*a)->range ? "cuMemAddressFree" : "cudaFree");
    if (*a && (*a)->live)
        st_detail(err, ST_EXPECTED, "at most the %zu bytes from 0x%llx", (*a)->bytes,
                  (unsigned long long)(*a)->address);
    return ST_NOT_FOUND;
}

void vg_address_name(const struct vg_device *d, uint64_t address, char *to, size_t room)
{
    const struct vg_allocation *a = vg_memory_below(&d->memory, address);
    to[0] = '\0';
    if (!a || !a->live || address - a->address >= (a->bytes ? a->bytes : 1))
        return;
    unsigned long long offset = address - (a->range ? a->range : a->address);
    if (a->number)
        snprintf(to, room, "#%u+%llu", a->number, offset);
    else
        snprintf(to, room, "%s+%llu", a->name, offset);
}

static void mark_written(struct vg_device *d, struct vg_allocation *a, uint64_t to, size_t bytes)
{
    if (a->initialised)
        return;
    vg_memory_mark(&d->memory, to, bytes);
    if (to == a->address && bytes == a->bytes)
        a->initialised = true;
    else
        a->touched = true;
}

static void unmark(struct vg_memory *m, uint64_t address, size_t bytes)
{
    for (uint64_t at = address - VG_GLOBAL_BASE; bytes; at++, bytes--)
        m->shadow[at / 8] &= (uint8_t) ~(1u << (at & 7));
}

static void populate_page(void *context, size_t page)
{
    madvise((char *)context + page * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, MADV_POPULATE_WRITE);
}

/* Requests the pages of a large tensor that is written from beginning to end, some time before they
 * are needed, on several cores. A virtual machine may have to get the pages from its host, which
 * takes 20 times as long as writing to them. (Kernels before 5.14 reject the request; this only
 * costs speed.) */
static void populate(struct vg_memory *m, struct vg_allocation *a, uint64_t to, size_t bytes)
{
    const size_t ahead = (size_t)128 << 20, first = to - a->address, end = first + bytes;
    if (a->bytes < ahead || a->initialised || first > a->populated || end <= a->populated)
        return;
    const size_t until = a->bytes - end < ahead ? a->bytes : end + ahead;
    const size_t start = a->address - VG_GLOBAL_BASE;
    const size_t page = (start + a->populated) / HUGE_PAGE_BYTES;
    const size_t last = (start + until) / HUGE_PAGE_BYTES;
    a->populated = until;
    parallel_for(last - page, populate_page, m->arena + page * HUGE_PAGE_BYTES);
}

struct move {
    char *to;
    const char *from;
    size_t bytes;
};

static void move_piece(void *context, size_t piece)
{
    const struct move *move = context;
    const size_t first = piece * HUGE_PAGE_BYTES, left = move->bytes - first;
    memcpy(move->to + first, move->from + first, left < HUGE_PAGE_BYTES ? left : HUGE_PAGE_BYTES);
}

/* Copies on several cores. */
static void move_bytes(void *to, const void *from, size_t bytes)
{
    struct move move = {to, from, bytes};
    parallel_for((bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES, move_piece, &move);
}

enum st_code vg_memory_write(struct vg_device *d, uint64_t to, const void *from, size_t bytes,
                             struct st_error *err)
{
    struct vg_allocation *a;
    enum st_code code = check_range(d, to, bytes, true, &a, err);
    if (code != ST_OK || !bytes)
        return code;
    populate(&d->memory, a, to, bytes);
    move_bytes(vg_memory_host(&d->memory, to), from, bytes);
    mark_written(d, a, to, bytes);
    proof_written(d, a, to, from, bytes);
    vg_memory_pass_l2(&d->memory, a, (double)bytes);
    return ST_OK;
}

enum st_code vg_memory_read(struct vg_device *d, void *to, uint64_t from, size_t bytes,
                            struct st_error *err)
{
    struct vg_allocation *a;
    enum st_code code = check_range(d, from, bytes, false, &a, err);
    if (code == ST_OK && bytes)
        move_bytes(to, vg_memory_host(&d->memory, from), bytes);
    return code;
}

enum st_code vg_memory_copy(struct vg_device *d, uint64_t to, uint64_t from, size_t bytes,
                            struct st_error *err)
{
    struct vg_allocation *a, *b;
    enum st_code code = check_range(d, from, bytes, false, &b, err);
    if (code == ST_OK)
        code = check_range(d, to, bytes, true, &a, err);
    if (code != ST_OK || !bytes)
        return code;
    memmove(vg_memory_host(&d->memory, to), vg_memory_host(&d->memory, from), bytes);
    proof_copied(d, a, to, b, from, bytes);
    if (!a->shared && !b->shared)
        vg_memory_pass_l2(&d->memory, b, (double)bytes);
    if (!a->shared)
        vg_memory_pass_l2(&d->memory, a, (double)bytes);
    /* In the copy, bytes that are uninitialised in the source become uninitialised. An exception is
     * shared memory, to which the host also writes. */
    if (b->initialised || a->shared || vg_memory_marked(&d->memory, from, bytes)) {
        mark_written(d, a, to, bytes);
    } else {
        track(&d->memory, a);
        unmark(&d->memory, to, bytes);
        for (size_t i = 0; i < bytes; i++)
            if (vg_memory_marked(&d->memory, from + i, 1))
                vg_memory_mark(&d->memory, to + i, 1);
    }
    return ST_OK;
}

enum st_code vg_memory_set(struct vg_device *d, uint64_t to, int value, size_t bytes,
                           struct st_error *err)
{
    struct vg_allocation *a;
    enum st_code code = check_range(d, to, bytes, true, &a, err);
    if (code != ST_OK || !bytes)
        return code;
    memset(vg_memory_host(&d->memory, to), value, bytes);
    proof_written(d, a, to, NULL, bytes);
    mark_written(d, a, to, bytes);
    vg_memory_pass_l2(&d->memory, a, (double)bytes);
    return ST_OK;
}
