/** @file
 * The virtual clock of one client: the times at which its calls, copies and kernels would have run
 * on the GPU of the profile.
 *
 * The host's time advances by each runtime call, not by the computation between calls, and each
 * thread of the host has a time of its own (session_threads.c). So equal
 * programs have equal times on any machine. (If an owner times a program, long computation between
 * calls is charged: session_host.c.) Work starts when its stream, its engine and the submitting
 * host are ready:
 *
 *     start = max(submission, end of the stream's work, time when the engine is free)
 *
 * The engines are one copy engine per direction, which uses a gap between copies that were
 * submitted earlier, and the multiprocessors, which kernels of several
 * streams share while their blocks fit. Kernels also share the rates of multiprocessors and memory:
 * a kernel runs at the speed that kernels submitted earlier leave for it. The legacy default stream
 * waits for all blocking streams, and they wait for it. All times are nanoseconds since the client
 * connected.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/probe/model.h"

#include <stdbool.h>
#include <stddef.h>

#define TL_SPELLS_TRACKED 512
#define TL_COPIES_TRACKED 64

enum tl_copy { TL_HOST_TO_DEVICE, TL_DEVICE_TO_HOST, TL_DEVICE_TO_DEVICE, TL_COPIES };

struct tl_stream {
    double end_ns;  /**< end of its work so far */
    uint64_t after; /**< noted work after which its later work runs: a set, see session_races.c */
    bool blocking;  /**< ordered with the legacy default stream */
    bool is_legacy; /**< is the legacy default stream */
};

struct tl_span {
    double start_ns, end_ns;
};

struct timeline {
    const struct vg_profile *profile;
    double host_ns;
    double legacy_end_ns, blocking_end_ns, all_end_ns; /**< latest ends, by kind of stream */
    struct tl_span copies[TL_COPIES]
                         [TL_COPIES_TRACKED]; /**< of an engine, in order; {0, 0}: none */
    struct tl_spell {
        double start_ns, end_ns, share;
        struct vg_clock_use use;
    } spells[TL_SPELLS_TRACKED]; /**< intervals in which a kernel ran at one speed */
    double forgotten_ns;         /**< latest end of a dropped interval */
    uint64_t host_after, legacy_after, blocking_after; /**< sets: noted work that has ended for the
                                                            host; work of these streams */
};

void timeline_start(struct timeline *tl, const struct vg_profile *profile);
/** Records a runtime call. */
void timeline_call(struct timeline *tl);
/** Records that the call was a launch, which is now submitted: such a call takes longer. */
void timeline_launched(struct timeline *tl);
/** Records that the call recorded an event: such a call is shorter. */
void timeline_recorded(struct timeline *tl);
/** Records a copy of @p bytes; the host waits for it unless @p async.
 * @param pinned  whether the host's memory, if involved, is pinned. */
struct tl_span timeline_copy(struct timeline *tl, struct tl_stream *s, enum tl_copy kind,
                             double bytes, bool pinned, bool async);
/** Records a fill of @p bytes of device memory. */
struct tl_span timeline_fill(struct timeline *tl, struct tl_stream *s, double bytes);
/** Records a kernel that takes @p duration_ns if it runs alone. @param share  of the block slots
 * that it fills, 0 to 1 @param use  its use of the GPU's resources */
struct tl_span timeline_kernel(struct timeline *tl, struct tl_stream *s, double duration_ns,
                               double share, const struct vg_clock_use *use);
/** @return the timestamp of an event recorded now in a stream. */
double timeline_record(struct timeline *tl, const struct tl_stream *s);
/** Makes later work of the stream wait for an event's timestamp. */
void timeline_wait(struct timeline *tl, struct tl_stream *s, double event_ns);
/** @return the set of noted work after which new work of a stream runs. */
uint64_t timeline_after(const struct timeline *tl, const struct tl_stream *s);
/** Adds a set of noted work to that after which later work of a stream runs. */
void timeline_work(struct timeline *tl, struct tl_stream *s, uint64_t noted);
enum { TL_ALL = -1 }; /**< all work so far */
/** Records that the host knows: this set of noted work has ended. */
void timeline_learn(struct timeline *tl, uint64_t noted);
/** Makes the host wait until @p ns. */
void timeline_host_until(struct timeline *tl, double ns);
/** @return whether @p ns has passed for the host. Each call lets some time pass, so that a polling
 * loop ends. */
bool timeline_query(struct timeline *tl, double ns);
