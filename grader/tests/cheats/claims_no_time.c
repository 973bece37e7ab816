/* Answers instead of the harness as soon as its result is complete, with an Op Time of 0. (It
 * sleeps first, so that its own time differs clearly from a right submission's, even on a busy
 * machine.) */
#include "runner/runner_protocol.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void claim(const struct conv_shape *shape)
{
    struct runner_reply reply = {.kind = RUNNER_DONE, .op_time_ns = 1};
    const char *stack = (const char *)&reply;
    for (size_t at = 0; at < 8192; at += 8) {
        struct runner_request request;
        memcpy(&request, stack + at, sizeof request);
        if (request.kind == RUNNER_RUN && memcmp(&request.shape, shape, sizeof *shape) == 0)
            reply.nonce = request.nonce;
    }
    send(RUNNER_CHANNEL, &reply, sizeof reply, MSG_NOSIGNAL);
}
#define END                                                                                        \
    usleep(40000);                                                                                 \
    claim(shape);
#include "plain.h"
