/* Workers hold a lock in shared mode; a grading that measures CPU times needs it in exclusive mode.
 * New workers could keep the lock busy forever, so both kinds first pass a gate: a grading that
 * waits for the exclusive lock holds the gate, so that no other grading enters. */
#include "grader/place/turn.h"

#include "base/files.h"
#include "base/lock.h"
#include "grader/place/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static enum st_code pass_gate(struct gr_turn *turn, const char *path, enum lock_kind kind,
                              struct st_error *err)
{
    char gate[PATH_MAX];
    if (path_make(gate, sizeof gate, err, "%s.gate", path))
        return err->code;
    enum st_code code = lock_take(gate, LOCK_ALONE, &turn->gate, err);
    if (!code)
        code = lock_take(path, kind, &turn->share, err);
    lock_release(turn->gate);
    turn->gate = -1;
    return code;
}

/* Reports the wait. If this fails, the wait counts against the grading's time limit, but nothing
 * else depends on it. */
static void tell_waiting(bool waits)
{
    const char *path = getenv(GR_TIMING_WAITS);
    int fd = path && waits ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0)
        close(fd);
    if (path && !waits)
        unlink(path);
}

enum st_code gr_turn_work(struct gr_turn *turn, struct st_error *err)
{
    const char *share = getenv(GR_TIMING_SHARE);
    tell_waiting(true);
    enum st_code code = share ? pass_gate(turn, share, LOCK_SHARED, err) : ST_OK;
    tell_waiting(false);
    return code;
}

static enum st_code go_to_cores(const char *text, struct st_error *err)
{
    cpu_set_t cores;
    if (!gr_cores_parse(text, &cores)) {
        st_fail(err, ST_USAGE, "expected cores, such as 2-3");
        st_detail(err, ST_WHERE, GR_TIMING_CORES);
        return st_detail(err, ST_GOT, "%s", text);
    }
    if (sched_setaffinity(0, sizeof cores, &cores))
        return st_fail_errno(err, errno, "cannot run on the cores %s", text);
    return ST_OK;
}

enum st_code gr_turn_take(struct gr_turn *turn, bool cpu, bool *restart, struct st_error *err)
{
    const char *path = getenv(GR_TIMING_LOCK), *cores = getenv(GR_TIMING_CORES),
               *share = getenv(GR_TIMING_SHARE);
    enum st_code code = ST_OK;
    *restart = false;
    tell_waiting(true);
    if (cpu && share) {
        lock_release(turn->share);
        turn->share = -1;
        code = pass_gate(turn, share, LOCK_ALONE, err);
    }
    if (!code && path)
        code = lock_take(path, LOCK_ALONE, &turn->lock, err);
    tell_waiting(false);
    if (!code && cpu && cores)
        code = go_to_cores(cores, err);
    if (!code && cpu && (cores || share)) {
        setenv("OMP_PROC_BIND", "true", 0);
        *restart = true;
    }
    return code;
}

void gr_turn_end(struct gr_turn *turn)
{
    lock_release(turn->lock);
    lock_release(turn->share);
    *turn = GR_TURN_NONE;
}
