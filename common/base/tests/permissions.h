/** @file
 * Makes file permissions apply to a test that runs as root, as to other users. The test cannot
 * change its user instead, because a user name space may not have another one.
 */
#pragma once

#include <criterion/criterion.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/** From now on permissions bind this thread, even root's. */
static inline void permissions_bind(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    cr_assert_eq(syscall(SYS_capget, &header, data), 0);
    const __u32 kept = ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER);
    data[0].effective &= kept;
    data[0].permitted &= kept;
    cr_assert_eq(syscall(SYS_capset, &header, data), 0);
}
