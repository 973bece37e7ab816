/** @file
 * The door by name, for programs that do not inherit it.
 *
 * A program started by another may not inherit descriptors: Python's subprocess closes all that it
 * was not asked to keep. So the owner of the program gives the door to each process of the same
 * user that requests it, on a socket whose name (in Linux's abstract name space: nothing is left
 * behind) is in the environment variable VP_NAME_VARIABLE. In a sandbox this name must not exist.
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
 * @param door  to be given away; stays the caller's */
enum st_code door_name_make(struct door_name *name, int door, struct st_error *err);
/** Starts to answer, in a separate thread. Earlier requests wait until then. */
void door_name_answer(struct door_name *name);
/** Stops answering, and removes the name; harmless without one. */
void door_name_close(struct door_name *name);
