// Runs the program again, as another process, with an argument and with input on its standard
// input.
#pragma once

#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// @return its exit status
static int run_again(const char *argument, const void *sent, size_t bytes)
{
    int ends[2], status = -1;
    pid_t child;
    posix_spawn_file_actions_t actions;
    EXPECT(pipe(ends) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    char *const arguments[] = {(char *)"again", (char *)argument, NULL};
    EXPECT(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    EXPECT(write(ends[1], sent, bytes) == (ssize_t)bytes);
    close(ends[1]);
    EXPECT(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Reads the input in the other process.
static void receive(void *to, size_t bytes)
{
    EXPECT(read(0, to, bytes) == (ssize_t)bytes);
}
