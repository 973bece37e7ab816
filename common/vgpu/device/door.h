/** @file
 * The door by name, for programs that do not inherit it.
 *
 * A program that another one starts may have been left no descriptors: Python's subprocess closes
 * all that it was not asked to keep. So the owner of the program gives the door to each process of
 * the same user that requests it, on a socket whose name (in Linux's abstract name space: nothing
 * is left behind) is in the environment variable VP_NAME_VARIABLE. Where a sandbox is to be, there
 * must be no such name.
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

/** Makes the name and puts it into this process' environment. Nobody is answered yet.
 * @param door  to be given away; stays the caller's */
enum st_code door_name_make(struct door_name *name, int door, struct st_error *err);
/** Begins to answer, in a separate thread. Earlier requests wait until then. */
void door_name_answer(struct door_name *name);
/** Stops answering, and removes the name; harmless if there is none. */
void door_name_close(struct door_name *name);
