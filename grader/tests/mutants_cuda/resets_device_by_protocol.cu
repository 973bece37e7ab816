/* expect: device_error (behaviour) */
/* Sends requests of the device's protocol itself: runs the right kernel, then resets device and
 * clock on every connection that it finds. */
#include "vgpu/device/device_protocol.h"

#include <sys/socket.h>

static void reset_all()
{
    struct vp_request request = {};
    struct vp_reply reply;
    int type;
    socklen_t bytes = sizeof type;
    cudaDeviceSynchronize();
    request.op = VP_RESET;
    for (int fd = 6; fd < 64; fd++)
        if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) && type == SOCK_SEQPACKET &&
            send(fd, &request, sizeof request, MSG_NOSIGNAL) == sizeof request)
            recv(fd, &reply, sizeof reply, 0);
}
#define END reset_all();
#include "plain.cuh"
