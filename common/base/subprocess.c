#include "base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum st_code gr_subprocess(const char *const *argv, const char *folder, size_t limit_bytes,
                           struct gr_subprocess_result *result, struct st_error *err)
{
    result->output = calloc(1, limit_bytes + 1);
    result->exit_status = -1;
    if (!result->output)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the output of %s", argv[0]);
    int out[2];
    if (pipe2(out, O_CLOEXEC)) {
        free(result->output);
        result->output = NULL;
        return st_fail_errno(err, errno, "cannot make a pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, out[1], 2);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    pid_t pid;
    int why = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (why) {
        close(out[0]);
        free(result->output);
        result->output = NULL;
        st_fail(err, ST_MISSING_TOOL, "cannot run %s: %s", argv[0], strerror(why));
        return ST_MISSING_TOOL;
    }
    char rest[4096];
    size_t used = 0;
    for (;;) {
        size_t room = limit_bytes - used;
        ssize_t n =
            room ? read(out[0], result->output + used, room) : read(out[0], rest, sizeof rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (room)
            used += (size_t)n;
    }
    close(out[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ST_OK;
}
