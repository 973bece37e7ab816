/* A grading's turn to measure times (place/turn.h). The grading holds the turn while it uses the
 * GPU, or from its first timed run on the CPU. Builds, unit shapes on the CPU, and the virtual GPU,
 * whose times are modelled, need no turn. */
#include "base/clock.h"
#include "grader/place/cores.h"
#include "grader/stages/grading.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_CHARS = sizeof ", not alone" };

static void write_cores(char *to, size_t room)
{
    char list[64];
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores))
        return;
    snprintf(to, room, "core%s %s", CPU_COUNT(&cores) == 1 ? "" : "s",
             gr_cores_text(&cores, list, sizeof list));
}

bool gr_timing_is_brief(const struct grading *g)
{
    return g->host.device == RUNNER_ON_CPU && getenv(GR_TIMING_BRIEF);
}

enum st_code gr_timing_begin(struct grading *g, enum runner_device device, struct st_error *err)
{
    bool anew;
    if (g->host.device != device)
        return ST_OK;
    if (gr_timing_is_brief(g)) {
        write_cores(g->result->timed_on, sizeof g->result->timed_on - NOTE_CHARS);
        strcat(g->result->timed_on, ", not alone");
        return ST_OK;
    }
    enum st_code code = gr_turn_take(&g->turn, device == RUNNER_ON_CPU, &anew, err);
    if (code)
        return code;
    g->result->timed_from = clock_date_s();
    if (device == RUNNER_ON_CPU)
        write_cores(g->result->timed_on, sizeof g->result->timed_on);
    if (anew) /* the inference stage starts the session again */
        gr_session_end(&g->session);
    return ST_OK;
}

void gr_timing_end(struct grading *g)
{
    if (g->result->timed_from > 0)
        g->result->timed_until = clock_date_s();
    gr_turn_end(&g->turn);
}
