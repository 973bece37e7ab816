/** @file
 * Shared by the first process of a sandbox (confine_main.c) and the grader.
 */
#pragma once

/** Its exit status if the program could not be started; then it reports nothing. */
enum { CONFINE_FAILED = 99 };

/** Its path in a sandbox, which needs none of our folders. */
#define CONFINE_AT "/confine"
