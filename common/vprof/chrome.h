/** @file
 * The trace as a timeline that Perfetto (ui.perfetto.dev) and Chrome's chrome://tracing open: the
 * JSON of the "Trace Event Format".
 */
#pragma once

#include "trace/trace.h"

/** Writes the timeline: a process for the host's calls and one for the GPU, with a line for each
 * client and stream. */
enum st_code chrome_write(const struct tr_trace *trace, const char *path, struct st_error *err);
