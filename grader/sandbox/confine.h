/** @file
 * Shared by the first process of a sandbox (confine_main.c) and the grader.
 */
#pragma once

/** The exit status of confine if the program could not be started; in this case it reports
 * nothing. */
enum { CONFINE_FAILED = 99 };

/** The path of confine in a sandbox, which then needs none of our folders. */
#define CONFINE_AT "/confine"
