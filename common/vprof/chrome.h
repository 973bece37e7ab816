/** @file
 * The trace as a timeline for Perfetto (ui.perfetto.dev) and Chrome's chrome://tracing: JSON in the
 * "Trace Event Format".
 */
#pragma once

#include "trace/trace.h"

/** Writes the timeline: a process for the host's calls and one for the GPU, with a line per client
 * and stream. */
enum st_code chrome_write(const struct tr_trace *trace, const char *path, struct st_error *err);
