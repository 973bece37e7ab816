/** @file
 * Packets that carry a descriptor over a Unix socket.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

/** Sends a packet, without SIGPIPE. @param fd  a descriptor to send with it, which stays open here;
 * -1: none.
 * @return the result of sendmsg(). */
ssize_t descriptor_send(int socket, struct iovec *parts, size_t n, int fd, int flags);
/** Receives a packet. @param fd  becomes the received descriptor, close-on-exec and owned by the
 * caller, or -1; further descriptors are closed. @return the result of recvmsg(). */
ssize_t descriptor_receive(int socket, struct iovec *parts, size_t n, int *fd, int flags);
