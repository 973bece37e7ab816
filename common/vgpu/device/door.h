/** @file
 * Gives the door to programs that do not inherit it, through a named socket.
 *
 * A program started by another may not inherit descriptors: Python's subprocess closes all
 * descriptors except requested ones. So the owner gives the door to each process of its user that
 * requests it, on a socket whose name is in the environment variable VP_NAME_VARIABLE. (The name is
 * in Linux's abstract namespace, so nothing is left behind.) In a sandbox this name must not exist.
 */
#pragma once

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>

struct door_name {
    int listener, door;
    bool answers; /* the thread runs */
    pthread_t thread;
};

#define DOOR_NAME_NONE ((struct door_name){.listener = -1})

/** Creates the name and stores it in this process's environment. Requests are not answered yet.
 * @param door  the door to give away; the caller keeps it open */
enum st_code door_name_make(struct door_name *name, int door, struct st_error *err);
/** Starts a thread that answers requests. Earlier requests wait until then. */
void door_name_answer(struct door_name *name);
/** Stops answering and removes the name; harmless if no name exists. */
void door_name_close(struct door_name *name);
