/** @file
 * The virtual clock of one client: when its calls, copies and kernels would have run on the GPU of
 * the profile.
 *
 * The host's time advances by each runtime call, not by what the host computes between calls: so
 * equal programs have equal times on any machine. (An owner who times a program has it charged for
 * more than a program needs to make its calls: session_host.c.) Work starts when its stream, the engine it needs
 * and the host that submits it are ready:
 *
 *     start = max(submission, end of the stream's work, room on the engine)
 *
 * Engines: one copy engine per direction; the multiprocessors, which kernels of several streams share
 * as long as their blocks fit. They share what the multiprocessors and the memory can do, too: a
 * kernel runs as fast as those that were submitted before it leave room. The legacy default stream waits for all blocking streams and they
 * for it. All times are nanoseconds since the client connected.
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/probe/model.h"

#include <stdbool.h>
#include <stddef.h>

#define TL_SPELLS_TRACKED 512

enum tl_copy { TL_HOST_TO_DEVICE, TL_DEVICE_TO_HOST, TL_DEVICE_TO_DEVICE, TL_COPIES };

struct tl_stream {
    double end_ns;  /**< of its work so far */
    bool blocking;  /**< ordered with the legacy default stream */
    bool is_legacy; /**< is that stream */
};

struct tl_span {
    double start_ns, end_ns;
};

struct timeline {
    const struct vg_profile *profile;
    double host_ns;
    double legacy_end_ns, blocking_end_ns, all_end_ns; /**< latest ends, by kind of stream */
    double copy_end_ns[TL_COPIES];
    struct tl_spell {
        double start_ns, end_ns, share;
        struct vg_clock_use use;
    } spells[TL_SPELLS_TRACKED]; /**< in which a kernel ran at one speed: who occupies the GPU */
    double forgotten_ns;         /**< the latest end of a spell that found no place */
};

void timeline_start(struct timeline *tl, const struct vg_profile *profile);
/** Records a runtime call. */
void timeline_call(struct timeline *tl);
/** That call was a launch, and has been submitted: the host takes longer to return from it. */
void timeline_launched(struct timeline *tl);
/** A copy of @p bytes; the host waits for it unless @p async.
 * @param pinned  the host\'s memory is, if it takes part. */
struct tl_span timeline_copy(struct timeline *tl, struct tl_stream *s, enum tl_copy kind,
                             double bytes, bool pinned, bool async);
/** A fill of @p bytes of device memory. */
struct tl_span timeline_fill(struct timeline *tl, struct tl_stream *s, double bytes);
/** A kernel that takes @p duration_ns if it is alone.
 * @param share  of the places for blocks that it fills, 0 to 1
 * @param use  what it takes of the GPU's resources meanwhile */
struct tl_span timeline_kernel(struct timeline *tl, struct tl_stream *s, double duration_ns,
                               double share, const struct vg_clock_use *use);
/** @return the time stamp of an event recorded now in a stream. */
double timeline_record(struct timeline *tl, const struct tl_stream *s);
/** Later work of the stream waits for the time stamp. */
void timeline_wait(struct timeline *tl, struct tl_stream *s, double event_ns);
/** The host waits until @p ns. */
void timeline_host_until(struct timeline *tl, double ns);
/** The host asks whether @p ns has come. Each question lets some of the time pass, so that a loop
 * that polls comes to its end. */
bool timeline_query(struct timeline *tl, double ns);
