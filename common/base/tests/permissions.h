/** @file
 * Makes file permissions apply even to a test that runs as root. The test cannot become another
 * user instead, because a user namespace may have only one.
 */
#pragma once

#include <criterion/criterion.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/** From now on file permissions apply to this thread, even if it is root's. */
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
