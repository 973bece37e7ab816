/** @file
 * The interface to a program that starts the profiled one for vprof (`vprof --wrapper FILE`): the
 * grader's program boxed, which starts the program in the sandbox. The wrapper gets the program's
 * command line (or ncu's command line followed by it), and these variables in its environment.
 */
#pragma once

/** Files and folders that the recorder must be able to read, separated by ':'. */
#define WRAPPER_READS "CONVLAB_WRAPPER_READS"
/** Files to which the recorder writes; they exist. */
#define WRAPPER_WRITES "CONVLAB_WRAPPER_WRITES"
/** If set, the recorder is a separate process, which the program connects to at 127.0.0.1. */
#define WRAPPER_LOOPBACK "CONVLAB_WRAPPER_LOOPBACK"
