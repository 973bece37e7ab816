/* A device process for tests, and clients that send its protocol's requests directly. */
#pragma once

#include "vgpu/device/device_process.h"
#include "vgpu/device/device_protocol.h"

#include <stddef.h>

/* The device of the current test: a process that serves in a fork of the test, so that sanitizers
 * and coverage see it. Its output goes to a file. */
extern struct vg_process device;

/* Start the device with a control channel; end it by closing door and control, and check its
 * end. */
void device_start(void);
void device_end(void);

/* The device's output since the last call; valid until the next call. */
const char *device_said(void);

/* Sends a descriptor through the door. */
void door_send(int fd);
/* A new connection. */
int client(void);
/* Sends one request; @return the reply's error, or -1 if the device hung up. @p reply may be
 * NULL. */
int ask(int fd, struct vp_request *q, const void *payload, struct vp_reply *reply);
/* Like ask(), but also returns the received descriptor. */
int ask_fd(int fd, struct vp_request *q, const void *payload, struct vp_reply *reply, int *passed);
/* Sends a request without payload. @return its error. */
#define ask_op(fd, operation, ...)                                                                 \
    ask(fd, &(struct vp_request){.op = (operation), .a = {__VA_ARGS__}}, NULL, NULL)
/* Sends HELLO; @return the window, mapped. */
unsigned char *client_window(int fd);
/* Allocates memory and expects error @p want. @return the address. */
uint64_t allocate(int fd, uint64_t bytes, int want);
/* Loads a fat binary through the window. @return the error; sets @p module. */
int client_load(int fd, const void *image, size_t bytes, uint64_t *module);
/* @return a kernel of a module. */
uint64_t client_kernel(int fd, uint64_t module, const char *name);
/* Expects the device to answer a new client. */
void is_alive(void);
