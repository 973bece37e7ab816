/** @file
 * The device process's loop: clients come through the door and are served one request at a time.
 */
#ifndef CONVLAB_VGPU_SERVER_H
#define CONVLAB_VGPU_SERVER_H

#include "vgpu/device/session.h"

#define SERVER_CLIENTS_MAX 64

/** Serves until the door is closed on the other side and the last client has gone, or SIGTERM
 * comes. Writes one byte through the door first: ready. A client that hangs up while its kernel
 * runs has the kernel interrupted. @param door  a SOCK_SEQPACKET socket, closed at the end.
 * @return ST_OK, or why the loop could not start. */
enum st_code server_run(struct session_shared *shared, int door, struct st_error *err);

#endif
