/* Explains to the student how a session's process ended, from the process's report or from what it
 * left behind. */
#include "grader/session/session_parts.h"

#include "base/cgroup.h"
#include "grader/sandbox/filter.h"
#include "grader/session/source_place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void gr_session_say(struct gr_run *run, enum gr_outcome outcome, const char *message,
                    const char *hint)
{
    run->outcome = outcome;
    snprintf(run->message, sizeof run->message, "%s", message);
    snprintf(run->hint, sizeof run->hint, "%s", hint);
}

void gr_session_say_closed(struct gr_run *run)
{
    gr_session_say(run, GR_SILENT, "the harness's result channel was closed while your code ran",
                   "close only file descriptors that your code opened");
}

void gr_session_say_too_much(const struct gr_session *s, struct gr_run *run)
{
    char message[160];
    snprintf(message, sizeof message,
             "used %.1f GiB of memory in %zu process%s; the limit is %.1f GiB",
             (double)s->memory_bytes / 0x1p30, s->processes, s->processes == 1 ? "" : "es",
             (double)gr_box_memory_limit() / 0x1p30);
    gr_session_say(run, GR_CRASHED, message, "which allocation, or which fork(), is in a loop?");
}

void gr_session_say_crashed_twice(const struct gr_session *s, enum gr_outcome outcome,
                                  struct gr_run *run)
{
    char message[160];
    snprintf(
        message, sizeof message,
        "the virtual GPU's process crashed (SIG%s), and crashed again when the request was repeated",
        sigabbrev_np(s->device_crash) ? sigabbrev_np(s->device_crash) : "?");
    gr_session_say(
        run, outcome, message,
        "which kernel, launch or copy is unusual? If none is, report this to the instructor: it is also a bug of the virtual GPU");
    snprintf(run->pattern, sizeof run->pattern, "device_crashed");
}

static const char *signal_hint(int signal)
{
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
        return "check the index expression on that line: which of x, k and y does it read or write, and is every index below its size?";
    case SIGFPE:
        return "most likely an integer division by zero: what divides on that line?";
    case SIGILL:
        return "the library was built for another processor: build it on this machine";
    case SIGABRT:
        return "abort(), a failed assert() or damaged heap memory: look for writes outside of an array that you allocated";
    case SIGKILL:
        return "the system killed it, most likely because it used too much memory";
    default:
        return "run it under a debugger to see what happened";
    }
}

/* Finds the C library's last message about an abort, such as "double free or corruption (top)", or that of
 * assert(). */
static void find_abort(const char *said, char *to, size_t room)
{
    static const char *const words[] = {"free()",     "double free", "munmap_chunk()", "realloc()",
                                        "malloc()",   "corrupted ",  "malloc_consol",  "*** ",
                                        "terminate ", " Assertion `"};
    to[0] = '\0';
    for (; *said; said += strcspn(said, "\n"), said += *said == '\n')
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            const int length = (int)strcspn(said, "\n");
            const char *const at = strstr(said, words[i]);
            if (at && (at == said || (words[i][0] == ' ' && at < said + length)))
                snprintf(to, room, ": %.*s", length, said);
        }
}

static const char *abort_hint(const char *message)
{
    return strstr(message, "free")
               ? "call free() once for each malloc(), with the pointer that malloc() returned; does the code write past the end of that memory before (is its size in bytes: elements times sizeof(float))?"
           : message[0] && !strstr(message, "Assertion")
               ? "the code has written past the end of memory from malloc(), or before its start: is its size in bytes (elements times sizeof(float)), and which index is too large?"
               : signal_hint(SIGABRT);
}

/* Describes an access by the nearest tensor, since the arena's address in the runner is known. Only
 * y may be written, so a write is described relative to y. */
static void describe_access(char *to, size_t room, const struct runner_reply *reply,
                            const struct conv_shape *shape)
{
    const char *verb = reply->is_write ? "writing" : "accessing";
    struct arena_layout layout = arena_layout_for(shape);
    const size_t begin[3] = {layout.y, layout.x, layout.k};
    const size_t end[3] = {layout.guard[1], layout.guard[2], layout.guard[3]};
    int64_t at = (int64_t)(reply->fault_address - reply->arena_address), nearest = INT64_MAX;
    char name = 'y';
    for (int i = 0; i < (reply->is_write ? 1 : 3); i++) {
        int64_t distance = at < (int64_t)begin[i]  ? at - (int64_t)begin[i]
                           : at >= (int64_t)end[i] ? at - (int64_t)end[i]
                                                   : 0;
        if (llabs(distance) < llabs(nearest))
            nearest = distance, name = "yxk"[i];
    }
    if (reply->fault_address < 4096)
        snprintf(to, room, ", %s address %llu: a null pointer", verb,
                 (unsigned long long)reply->fault_address);
    else if (llabs(nearest) > (INT64_C(4) << 30))
        snprintf(to, room, ", %s address 0x%llx, far from x, k and y", verb,
                 (unsigned long long)reply->fault_address);
    else
        snprintf(to, room, ", %s %lld bytes %s of %c", verb, (long long)llabs(nearest),
                 nearest < 0 ? "before the start" : "past the end", name);
}

void gr_session_judge_size(const struct arena *arena, struct gr_run *run)
{
    if (!arena_restore(arena) && run->outcome == GR_RAN)
        gr_session_say(run, GR_CRASHED, "truncated the file that holds x, k and y",
                       "use only file descriptors that your code opened");
}

static void name_limits(struct gr_run *run)
{
    const size_t used = strlen(run->hint);
    snprintf(
        run->hint + used, sizeof run->hint - used,
        "; the sandbox allows %u threads and processes, %.1f GiB of memory and %zu MiB of shared memory",
        gr_session_processes(), (double)gr_box_memory_limit() / 0x1p30, RUNNER_SHARED_BYTES >> 20);
}

void gr_session_limit_text(const struct gr_session *s, double limit_s, char to[64])
{
    if (s->worked_long)
        snprintf(to, 64, "%.0f s of the virtual GPU's processor time",
                 limit_s - GR_SESSION_OTHERS_S);
    else
        snprintf(to, 64, "%.0f s", limit_s);
}

void gr_session_explain_crash(const struct gr_session *s, const struct runner_reply *reply,
                              const struct conv_shape *shape, double limit_s, struct gr_run *run)
{
    char place[256] = "a library that your code called", access[128] = "";
    if (reply->in_lab)
        gr_source_place(&s->host->sandbox, s->library, s->host->source, reply->lab_offset, place,
                        sizeof place);
    if (reply->signal == SIGXCPU) {
        char message[sizeof run->message], limit[64];
        gr_session_limit_text(s, limit_s, limit);
        const bool in_kernels = s->worked_long && !reply->in_lab;
        snprintf(message, sizeof message, "still running after %s, the limit for this shape; %s %s",
                 limit, reply->in_lab ? "it was at" : "it was in", in_kernels ? "a kernel" : place);
        gr_session_say(
            run, GR_TIMED_OUT, message,
            in_kernels
                ? GR_SESSION_REPEATS_HINT
                : "does every loop end? Check each loop's condition and step around that line");
        return;
    }
    if (reply->signal == SIGSYS && reply->text[0]) {
        char message[sizeof run->message];
        snprintf(message, sizeof message,
                 "called %.40s at %s, which loads other libraries: a lab must do the work itself",
                 reply->text, place);
        gr_session_say(run, GR_CRASHED, message,
                       "remove that call; you may use headers that contain one (CUB, Thrust)");
        snprintf(run->pattern, sizeof run->pattern, "not_own_work");
        return;
    }
    if (reply->signal == SIGSYS) {
        char call[96], message[sizeof run->message];
        snprintf(message, sizeof message, "made a system call that is not allowed (%s) at %s",
                 gr_filter_name(call, sizeof call, (int)reply->fault_address), place);
        gr_session_say(
            run, GR_CRASHED, message,
            "a convolution needs memory and arithmetic; do not use other processes, files or the network");
        snprintf(run->pattern, sizeof run->pattern, "forbidden_call");
        return;
    }
    if (reply->signal == SIGSEGV || reply->signal == SIGBUS)
        describe_access(access, sizeof access, reply, shape);
    if (reply->signal == SIGABRT)
        find_abort(s->output.lab.text, access, sizeof access);
    run->outcome = GR_CRASHED;
    snprintf(run->message, sizeof run->message, "crashed with SIG%s (%s) at %s%s",
             sigabbrev_np(reply->signal) ? sigabbrev_np(reply->signal) : "?",
             sigdescr_np(reply->signal) ? sigdescr_np(reply->signal) : "unknown signal", place,
             access);
    bool abort = reply->signal == SIGABRT;
    bool null = access[0] && !abort && reply->fault_address < 4096;
    bool device_pointer = access[0] && !abort && !null && s->host->device != RUNNER_ON_CPU;
    snprintf(
        run->hint, sizeof run->hint, "%s",
        null
            ? "did malloc() or conv_workspace() return NULL, or is a pointer used before it is set?"
        : device_pointer
            ? "x, k and y are device pointers: only kernels may read or write through them"
        : abort ? abort_hint(access)
                : signal_hint(reply->signal));
    if (abort && !access[0] && s->host->device == RUNNER_ON_CPU && s->host->sandbox.on)
        name_limits(run); /* for example, if a thread or memory was refused */
}

void gr_session_explain_end(struct gr_session *s, struct gr_run *run)
{
    int status = 0;
    s->alive = false;
    if (!gr_box_wait(&s->box, &status)) {
        gr_session_drain(s);
        char message[sizeof run->message];
        snprintf(message, sizeof message, "the sandbox did not start, or was killed: %.300s",
                 s->output.lab.text);
        message[strcspn(message, "\n")] = '\0';
        gr_session_say(run, GR_DEVICE_LOST, message,
                       "is there enough memory? Run grader sandbox for details");
        return;
    }
    char message[sizeof run->message];
    run->returned = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        if (signal == SIGKILL && cgroup_memory_kills(CGROUPS) > s->memory_kills) {
            gr_session_say(run, GR_DEVICE_LOST,
                           "Linux killed the harness: the memory of this container is used up",
                           "give the container more memory, or use fewer images (--images)");
            return;
        }
        snprintf(message, sizeof message, "killed by SIG%s (%s)",
                 sigabbrev_np(signal) ? sigabbrev_np(signal) : "?",
                 sigdescr_np(signal) ? sigdescr_np(signal) : "unknown signal");
        gr_session_say(run, GR_CRASHED, message, signal_hint(signal));
        return;
    }
    if (WEXITSTATUS(status) == RUNNER_EXIT_NO_CHANNEL) {
        gr_session_say_closed(run);
        return;
    }
    if (WEXITSTATUS(status) > 128 && sigabbrev_np(WEXITSTATUS(status) - 128)) {
        snprintf(message, sizeof message, "crashed with SIG%s while conv_forward was not running",
                 sigabbrev_np(WEXITSTATUS(status) - 128));
        gr_session_say(
            run, GR_CRASHED, message,
            "does one of your threads still run after conv_forward has returned? Join it first");
        return;
    }
    snprintf(message, sizeof message,
             "the process ended with exit status %d before conv_forward returned",
             WEXITSTATUS(status));
    gr_session_say(run, GR_EXITED, message,
                   "return from conv_forward; do not call exit() or _exit() in it");
}
