/** @file
 * Whether, and how, this machine can confine students' programs: with bubblewrap, in separate name
 * spaces.
 *
 * If the grader runs as root, programs run as a separate user who owns nothing; otherwise as the
 * grader's user in a user namespace, where that user owns no shown file.
 */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

/** The requested mode. */
enum gr_sandbox_wish {
    GR_SANDBOX_IF_POSSIBLE,
    GR_SANDBOX_NEVER,   /**< --no-sandbox */
    GR_SANDBOX_REQUIRED /**< --require-sandbox */
};

struct gr_sandbox {
    bool on;
    char reason[256];        /**< the reason if the sandbox is off */
    char bwrap[PATH_MAX];    /**< path of bubblewrap */
    char confine[PATH_MAX];  /**< path of the first process of every sandbox */
    char checkout[PATH_MAX]; /**< the checkout, which is never shown */
    unsigned user;           /**< the user as whom programs run; 0: the grader's user */
    bool own_users;          /**< programs run in a user namespace */
};

/** Tests the sandbox, once per process; takes about 10 ms.
 * @param build  the folder of our programs
 * @return ST_OK, even if the sandbox is off; ST_MISSING_TOOL if it is off but was required. */
enum st_code gr_sandbox_open(struct gr_sandbox *sandbox, enum gr_sandbox_wish wish,
                             const char *build, struct st_error *err);
