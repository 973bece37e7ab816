/** @file
 * The runner under a grader: answers requests on RUNNER_CHANNEL until the channel closes.
 */
#ifndef CONVLAB_RUNNER_SERVE_H
#define CONVLAB_RUNNER_SERVE_H

#include "exercise/exercise.h"
#include "runner/runner_protocol.h"

/** Loads the library and serves. @return the process's exit status. */
int runner_serve(const char *library, const struct exercise *exercise, enum runner_device device);

#endif
