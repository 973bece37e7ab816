/** @file
 * The device process's loop: clients connect through the door, and requests are served one at a
 * time.
 */
#pragma once

#include "vgpu/device/client_session.h"

#define SERVER_CLIENTS_MAX 64

/** Serves until no client can send requests, or until SIGTERM: with a control channel, until its
 * other side is closed; without one, until the door is closed and the last client has disconnected.
 * First writes one byte through the door, to report that it is ready. If a client hangs up while
 * its kernel runs, the kernel is interrupted.
 * @param door     a SOCK_SEQPACKET socket, closed at the end
 * @param control  the owner's socket (device_protocol.h: VP_CONTROL_TAKE), closed at the end, or -1
 * @return ST_OK, or the reason why the loop could not start. */
enum st_code server_run(struct session_shared *shared, int door, int control, struct st_error *err);
