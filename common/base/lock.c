#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum st_code lock_take(const char *path, enum lock_kind kind, int *fd, struct st_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int failed = *fd < 0;
    while (!failed && flock(*fd, kind == LOCK_SHARED ? LOCK_SH : LOCK_EX))
        failed = errno != EINTR;
    if (!failed)
        return ST_OK;
    st_fail_errno(err, errno, "cannot take a lock");
    lock_release(*fd);
    *fd = -1;
    return st_detail(err, ST_WHERE, "%s", path);
}

void lock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}
