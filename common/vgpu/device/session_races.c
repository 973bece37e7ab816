/* Races between streams: two pieces of work use the same memory, at least one of them writes it,
 * and nothing orders them: neither a stream, nor an event, nor the host, which waited for the first
 * before it submitted the second.
 *
 * 1. The last asynchronous copies, fills and kernels are noted. Each has a bit. A stream, an event
 *    and the host have a set of bits: the work after which their later work runs (timeline.h).
 * 2. A kernel reads what unordered work has written: during the kernel, these bytes count as not
 *    written (session_races_hide()), so each read of them is a finding. If the program has little
 *    memory, the bytes that a kernel wrote are known, too: the memory is compared with its contents
 *    before the launch (written_bytes.c).
 * 3. Other pairs are compared when the second is submitted. The bytes that a kernel read are not
 *    known, only the allocations. So a kernel that reads one races with a later copy, fill or kernel
 *    only if that writes the whole allocation. Two kernels that write the same bytes, and a kernel
 *    and a later copy of a part of these bytes, are found if these are known.
 * 4. A release in stream order counts as work that writes the whole allocation. After it, all
 *    earlier work counts as ordered, because the allocator may give the address to another stream.
 *
 * Not checked: a host with several threads, which may order the work themselves; accesses that
 * synchronise (volatile, atomic); work that the host may know to be complete from a flag in its
 * memory; and, after fills and copies in the legacy default stream, work in
 * a non-blocking stream, since many programs rely on the speed of cudaMemset(). */
#include "vgpu/device/client_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEPT_MOST (UINT64_C(32) << 20) /* bytes before each launch */
#define KEPT_SUM  (UINT64_C(4) << 30)  /* and in all launches: seconds */

static bool is_on(const struct session *s)
{
    return !s->shared->owned && s->shared->order == VG_ORDER_CALLS;
}

void session_races_request(struct session *s, const struct exchange *x)
{
    s->races.threads = !x->request.alone || x->request.thread;
    if (s->races.threads)
        timeline_learn(&s->time, TL_ALL);
}

static void forget_bit(uint64_t *set, uint64_t bit)
{
    *set &= ~bit;
}

/* Notes a piece of work that a stream has just got. */
static struct raced *note(struct session *s, struct tl_stream *stream)
{
    struct session_races *const r = &s->races;
    const uint64_t bit = UINT64_C(1) << r->next;
    struct raced *to = &r->list[r->next];
    r->next = (r->next + 1) % SESSION_RACED_MOST;
    for (size_t i = 0; i < s->streams.n; i++)
        if (s->streams.objects[i])
            forget_bit(&((struct stream *)s->streams.objects[i])->time.after, bit);
    for (size_t i = 0; i < s->events.n; i++)
        if (s->events.objects[i])
            forget_bit(&((struct event *)s->events.objects[i])->after, bit);
    forget_bit(&s->legacy.time.after, bit);
    forget_bit(&s->per_thread.time.after, bit);
    forget_bit(&s->time.host_after, bit);
    forget_bit(&s->time.legacy_after, bit);
    forget_bit(&s->time.blocking_after, bit);
    timeline_work(&s->time, stream, bit);
    vg_written_free(to->written);
    *to = (struct raced){.bit = bit};
    return to;
}

static void report(struct session *s, const char *kernel, struct raced *w, struct tl_stream *stream,
                   const char *text)
{
    struct vg_fault f = {.kind = VG_FAULT_RACE_STREAM, .count = 1};
    snprintf(f.kernel, sizeof f.kernel, "%s", kernel);
    snprintf(f.detail, sizeof f.detail, "%s", text);
    vg_fault_add(s->device, &f);
    record_findings_print(s->shared->record, s->device, &s->faults_printed, false);
    timeline_work(&s->time, stream, w->bit); /* one finding is enough */
}

/* @return noted work that a stream's next work does not wait for, from *at on; NULL: none */
static struct raced *next_unordered(struct session *s, const struct tl_stream *stream, int *at)
{
    const uint64_t after = timeline_after(&s->time, stream);
    while (*at < SESSION_RACED_MOST) {
        struct raced *w = &s->races.list[(*at)++];
        if (w->bit && !(after & w->bit))
            return w;
    }
    return NULL;
}

static bool covers(uint64_t address, uint64_t bytes, const struct vg_use *use)
{
    return address <= use->address && use->bytes && use->address - address + use->bytes <= bytes;
}

/* Compares work that a stream gets now with earlier work. @param verb  what it does with the range */
static void compare_range(struct session *s, const struct exchange *x, uint64_t address,
                          uint64_t bytes, bool writes, const char *verb)
{
    struct vg_use use;
    struct raced *w;
    char text[400], name[128];
    struct tl_stream *stream = &x->stream->time;
    const char *api = x->request.api[0] ? x->request.api : "a node of a graph";
    if (!is_on(s) || !bytes || !vg_use_of(s->device, address, &use) || use.is_shared)
        return;
    vg_address_name(s->device, address, name, sizeof name);
    for (int at = 0; (w = next_unordered(s, stream, &at));) {
        const bool is_stored =
            w->launch && vg_written_within(s->device, w->written, address, bytes);
        const bool touches = w->launch ? is_stored || ((use.stored_by == w->launch ||
                                                        (writes && use.loaded_by == w->launch)) &&
                                                       covers(address, bytes, &use))
                                       : (writes || w->writes) && address < w->address + w->bytes &&
                                             w->address < address + bytes;
        if (!touches)
            continue;
        snprintf(text, sizeof text,
                 "%s %s %" PRIu64
                 " bytes at %s, which %.200s in another stream %s: nothing orders the two",
                 api, verb, bytes, name, w->name,
                 w->launch   ? (is_stored || use.stored_by == w->launch ? "stores" : "reads")
                 : w->writes ? "writes"
                             : "reads");
        report(s, w->launch ? w->name : api, w, stream, text);
    }
}

void session_races_move(struct session *s, const struct exchange *x, uint64_t address,
                        uint64_t bytes, bool writes)
{
    compare_range(s, x, address, bytes, writes, writes ? "writes" : "reads");
}

void session_races_free(struct session *s, const struct exchange *x, uint64_t address,
                        uint64_t bytes)
{
    if (x->stream)
        compare_range(s, x, address, bytes, true, "frees");
}

void session_races_moved(struct session *s, const struct exchange *x, uint64_t address,
                         uint64_t bytes, bool writes)
{
    struct vg_use use;
    if (!is_on(s) || !bytes || x->stream->time.is_legacy || !vg_use_of(s->device, address, &use) ||
        use.is_shared)
        return;
    struct raced *w = note(s, &x->stream->time);
    w->address = address;
    w->bytes = bytes;
    w->writes = writes;
    snprintf(w->name, sizeof w->name, "%s",
             x->request.api[0] ? x->request.api : "a node of a graph");
}

void session_races_hide(struct session *s, struct tl_stream *stream)
{
    struct raced *w;
    s->races.hidden = false;
    for (int at = 0; is_on(s) && (w = next_unordered(s, stream, &at));) {
        w->is_hidden = w->written ||
                       (!w->launch && w->writes && vg_memory_hide(s->device, w->address, w->bytes));
        vg_written_hide(s->device, w->written);
        s->races.hidden |= w->is_hidden;
    }
    if (is_on(s) && s->streams.live && !s->races.threads && s->races.kept < KEPT_SUM)
        s->races.kept += vg_contents_keep(s->device, KEPT_MOST);
}

bool session_races_is_hidden(const struct session *s, uint64_t address)
{
    for (int i = 0; s->races.hidden && i < SESSION_RACED_MOST; i++) {
        const struct raced *w = &s->races.list[i];
        if (w->is_hidden &&
            (address - w->address < w->bytes || vg_written_contains(w->written, address)))
            return true;
    }
    return false;
}

/* Compares the kernel that has just run with earlier ones. */
static void compare_kernels(struct session *s, struct tl_stream *stream, const char *kernel,
                            const struct vg_written *written)
{
    struct raced *w;
    char text[400], name[128];
    for (int at = 0; (w = next_unordered(s, stream, &at));) {
        uint64_t address;
        const bool twice = w->launch && vg_written_twice(written, w->written, &address);
        if (!twice && !(w->launch && vg_written_over(s->device, written, w->launch, &address)))
            continue;
        vg_address_name(s->device, address, name, sizeof name);
        snprintf(
            text, sizeof text,
            "the kernel stores to %s, which %.200s in another stream %s: nothing orders the two",
            name, w->name, twice ? "stores to, too" : "reads");
        report(s, kernel, w, stream, text);
    }
}

void session_races_launched(struct session *s, struct tl_stream *stream, const char *kernel)
{
    const uint64_t launch = vg_launch_number(s->device);
    struct raced *w;
    char text[400], name[128];
    for (int i = 0; s->races.hidden && i < SESSION_RACED_MOST; i++) {
        w = &s->races.list[i];
        if (w->is_hidden && !w->launch)
            vg_memory_show(s->device, w->address, w->bytes);
        else if (w->is_hidden)
            vg_written_show(s->device, w->written);
        w->is_hidden = false;
    }
    s->races.hidden = false;
    if (!is_on(s))
        return;
    for (int at = 0; (w = next_unordered(s, stream, &at));) {
        struct vg_use use;
        if (w->launch || !vg_use_of(s->device, w->address, &use) ||
            !covers(w->address, w->bytes, &use) || use.stored_by != launch)
            continue;
        vg_address_name(s->device, w->address, name, sizeof name);
        snprintf(text, sizeof text,
                 "the kernel stores to %s, which %s in another stream %s: nothing orders the two",
                 name, w->name, w->writes ? "writes" : "reads");
        report(s, kernel, w, stream, text);
    }
    struct vg_written *const written = vg_written_find(s->device);
    vg_contents_drop(s->device);
    compare_kernels(s, stream, kernel, written);
    w = note(s, stream);
    w->launch = launch;
    w->written = written;
    if (vg_tells_host(s->device))
        timeline_learn(&s->time, timeline_after(&s->time, stream));
    snprintf(w->name, sizeof w->name, "%s", kernel);
}

void session_races_drop(struct session *s)
{
    for (int i = 0; i < SESSION_RACED_MOST; i++)
        vg_written_free(s->races.list[i].written);
    memset(&s->races, 0, sizeof s->races);
}
