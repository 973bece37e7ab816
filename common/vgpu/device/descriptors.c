#include "vgpu/device/descriptors.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECEIVED_MAX = 8 }; /* the kernel drops further descriptors */

ssize_t descriptor_send(int socket, struct iovec *parts, size_t n, int fd, int flags)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

ssize_t descriptor_receive(int socket, struct iovec *parts, size_t n, int *fd, int flags)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(RECEIVED_MAX * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = n,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    *fd = -1;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    for (struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&message) : NULL; c;
         c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int one;
            memcpy(&one, CMSG_DATA(c) + i * sizeof one, sizeof one);
            if (*fd >= 0)
                close(one);
            else
                *fd = one;
        }
    }
    return got;
}
