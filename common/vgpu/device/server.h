/** @file
 * The device process's loop: clients come through the door and are served one request at a time.
 */
#pragma once

#include "vgpu/device/client_session.h"

#define SERVER_CLIENTS_MAX 64

/** Serves until no client can request anything, or SIGTERM comes: with a control channel
 * until that is closed on the other side, without one until the door is and the last client has
 * gone. Writes one byte through the door first: ready. A client that hangs up while its kernel runs
 * has the kernel interrupted.
 * @param door     a SOCK_SEQPACKET socket, closed at the end
 * @param control  the owner's socket (device_protocol.h: VP_CONTROL_TAKE), closed at the end, or -1
 * @return ST_OK, or why the loop could not start. */
enum st_code server_run(struct session_shared *shared, int door, int control, struct st_error *err);
