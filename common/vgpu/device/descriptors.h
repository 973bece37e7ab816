/** @file
 * Packets that carry a descriptor with them over a Unix socket.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

/** Sends one packet. @param fd  goes with it and stays open here; -1: none.
 * @return as sendmsg() does. Never raises SIGPIPE. */
ssize_t descriptor_send(int socket, struct iovec *parts, size_t n, int fd, int flags);
/** Receives one packet. @param fd  set to the descriptor that came with it, close-on-exec and the
 * caller's, or -1; more than one are closed. @return as recvmsg() does. */
ssize_t descriptor_receive(int socket, struct iovec *parts, size_t n, int *fd, int flags);
