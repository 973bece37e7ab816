#include "vgpu/device/timeline.h"

#include <math.h>
#include <string.h>

/* Measured on an H200, as a share of api_call_ns: the host's time to record an event, and from the
 * end of a copy to the end of the call that waits for it. */
#define SHORT_CALL 0.5

void timeline_start(struct timeline *tl, const struct vg_profile *profile)
{
    memset(tl, 0, sizeof *tl);
    tl->profile = profile;
}

void timeline_call(struct timeline *tl)
{
    tl->host_ns += tl->profile->api_call_ns;
}

void timeline_launched(struct timeline *tl)
{
    tl->host_ns += fmax(0, tl->profile->launch_call_ns - tl->profile->api_call_ns);
}

void timeline_recorded(struct timeline *tl)
{
    tl->host_ns -= SHORT_CALL * tl->profile->api_call_ns;
}

/* @return the time at which a stream can start new work. */
static double ready(const struct timeline *tl, const struct tl_stream *s)
{
    double ns = fmax(tl->host_ns, s->end_ns);
    if (s->is_legacy)
        return fmax(ns, fmax(tl->blocking_end_ns, tl->legacy_end_ns));
    return s->blocking ? fmax(ns, tl->legacy_end_ns) : ns;
}

uint64_t timeline_after(const struct timeline *tl, const struct tl_stream *s)
{
    const uint64_t after = tl->host_after | s->after;
    if (s->is_legacy)
        return after | tl->blocking_after | tl->legacy_after;
    return s->blocking ? after | tl->legacy_after : after;
}

void timeline_work(struct timeline *tl, struct tl_stream *s, uint64_t noted)
{
    s->after |= noted;
    if (s->is_legacy)
        tl->legacy_after |= s->after;
    else if (s->blocking)
        tl->blocking_after |= s->after;
}

void timeline_learn(struct timeline *tl, uint64_t noted)
{
    tl->host_after |= noted;
}

static void ends(struct timeline *tl, struct tl_stream *s, double ns)
{
    timeline_work(tl, s, timeline_after(tl, s));
    s->end_ns = fmax(s->end_ns, ns);
    if (s->is_legacy)
        tl->legacy_end_ns = fmax(tl->legacy_end_ns, ns);
    else if (s->blocking)
        tl->blocking_end_ns = fmax(tl->blocking_end_ns, ns);
    tl->all_end_ns = fmax(tl->all_end_ns, ns);
}

/* Finds the first gap of an engine for a copy, and puts the copy there. Forgets the earliest copy,
 * before which none can start then. */
static struct tl_span engine_use(struct tl_span *copies, double start, double duration)
{
    int at = 0;
    for (; at < TL_COPIES_TRACKED; at++) {
        if (at > 0 && copies[at].start_ns >= start + duration)
            break;
        start = fmax(start, copies[at].end_ns);
    }
    memmove(copies, copies + 1, (size_t)(at - 1) * sizeof *copies);
    return copies[at - 1] = (struct tl_span){start, start + duration};
}

struct tl_span timeline_copy(struct timeline *tl, struct tl_stream *s, enum tl_copy kind,
                             double bytes, bool pinned, bool async)
{
    double rate = kind == TL_DEVICE_TO_DEVICE ? tl->profile->dram_bytes_per_s / 2
                  : pinned                    ? tl->profile->pcie_bytes_per_s
                                              : tl->profile->pageable_bytes_per_s;
    const struct tl_span span = engine_use(tl->copies[kind], ready(tl, s),
                                           tl->profile->copy_overhead_ns + bytes / rate * 1e9);
    ends(tl, s, span.end_ns);
    if (!async) {
        timeline_host_until(tl, span.end_ns + SHORT_CALL * tl->profile->api_call_ns);
        timeline_learn(tl, s->after);
    }
    return span;
}

struct tl_span timeline_fill(struct timeline *tl, struct tl_stream *s, double bytes)
{
    double start = ready(tl, s);
    double end =
        start + tl->profile->kernel_overhead_ns + bytes / tl->profile->dram_bytes_per_s * 1e9;
    ends(tl, s, end);
    return (struct tl_span){start, end};
}

/* @return the share of the block slots in use at time @p ns. @param next  set to the time of the
 * next change */
static double taken(const struct timeline *tl, double ns, struct vg_clock_use *use, double *next)
{
    double sum = 0;
    *use = (struct vg_clock_use){{0}};
    *next = INFINITY;
    for (size_t i = 0; i < TL_SPELLS_TRACKED; i++) {
        const struct tl_spell *spell = &tl->spells[i];
        if (spell->start_ns > ns)
            *next = fmin(*next, spell->start_ns);
        if (spell->start_ns > ns || spell->end_ns <= ns)
            continue;
        *next = fmin(*next, spell->end_ns);
        sum += spell->share;
        for (int k = 0; k < VG_CLOCK_GROUPS; k++)
            use->of[k] += spell->use.of[k];
    }
    return sum;
}

/* Replaces the interval that ends first. All later kernels start after the end of the dropped
 * one. */
static void note_spell(struct timeline *tl, struct tl_spell spell)
{
    struct tl_spell *first = tl->spells;
    for (size_t i = 1; i < TL_SPELLS_TRACKED; i++)
        if (tl->spells[i].end_ns < first->end_ns)
            first = &tl->spells[i];
    tl->forgotten_ns = fmax(tl->forgotten_ns, first->end_ns);
    *first = spell;
}

struct tl_span timeline_kernel(struct timeline *tl, struct tl_stream *s, double duration_ns,
                               double share, const struct vg_clock_use *use)
{
    struct vg_clock_use others;
    double start = fmax(ready(tl, s), tl->forgotten_ns), next;
    share = fmin(fmax(share, 0), 1);
    while (taken(tl, start, &others, &next) + share > 1 + 1e-9 && isfinite(next))
        start = next;
    double at = start;
    for (double left_ns = duration_ns; left_ns > 0; at = next) {
        taken(tl, at, &others, &next);
        const double speed = vg_clock_speed(&others, use), done_ns = speed * (next - at);
        if (done_ns >= left_ns)
            next = at + left_ns / speed;
        left_ns = done_ns >= left_ns ? 0 : left_ns - done_ns;
        struct tl_spell spell = {at, next, share, *use};
        for (int i = 0; i < VG_CLOCK_GROUPS; i++)
            spell.use.of[i] *= speed;
        note_spell(tl, spell);
    }
    ends(tl, s, at);
    return (struct tl_span){start, at};
}

double timeline_record(struct timeline *tl, const struct tl_stream *s)
{
    return ready(tl, s);
}

void timeline_wait(struct timeline *tl, struct tl_stream *s, double event_ns)
{
    ends(tl, s, event_ns);
}

void timeline_host_until(struct timeline *tl, double ns)
{
    tl->host_ns = fmax(tl->host_ns, ns);
}

bool timeline_query(struct timeline *tl, double ns)
{
    if (tl->host_ns >= ns)
        return true;
    tl->host_ns += fmax(tl->profile->api_call_ns, (ns - tl->host_ns) / 16);
    return false;
}
