/** @file
 * Runs a program from start to end, on its own virtual GPU or without one, for vgpu-run and vprof.
 */
#pragma once

#include "base/cost.h"
#include "vgpu/device/device_process.h"

#define PROGRAM_NOT_STARTED 2 /**< exit status when the program could not be started */

struct program_run {
    const char *tool;                 /**< name of the tool, for messages */
    struct vg_process_options device; /**< .folder is set by program_run() */
    char **environment; /**< the environment of a program that runs without a virtual GPU; NULL: use
                             a virtual GPU */
    char **arguments;   /**< NULL-terminated; the first is the program's name */
    bool confined;      /**< it runs in a sandbox: no other process may reach the virtual GPU */
    /** Called in the child before the program runs; may be NULL. */
    void (*started)(int pid, void *context);
    void *context;
    enum vg_preload preload; /**< output: libraries that the program preloads */
    int pid;                 /**< output: the program's process ID */
    bool found;              /**< output: findings exist; only with device.tells_findings */
    struct cost cost;        /**< output: cost of the program, without its device process */
};

/** Finds the folder of this program. @param to  PATH_MAX bytes. */
enum st_code program_folder(char *to, struct st_error *err);

/** Runs the program and its device process, if requested, and waits for both. Signals sent to this
 * process are forwarded to the program; both children die with this process. Failures are reported
 * on stderr.
 * @param status  set to the program's wait status
 * @return 0; PROGRAM_NOT_STARTED if the program or the device process could not be started, or the
 * device process failed although the program did not. */
int program_run(struct program_run *run, int *status);

/** Ends like a program with this wait status: returns its exit status, or ends this process by the
 * same signal. */
int program_end_as(int status);
