#include "grader/profile/timed_program.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child process: standard output goes to the pipe, standard error to the file. */
static void become(const char *const *argv, unsigned limit_s, int out, int errors)
{
    if (dup2(out, 1) < 0 || dup2(errors, 2) < 0)
        _exit(127);
    signal(SIGALRM, SIG_DFL); /* (the process that started us may have ignored the signal) */
    alarm(limit_s);           /* the alarm survives exec */
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

static void read_lines(int pipe_end, gr_line_function *line, void *context)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f = fdopen(pipe_end, "r");
    if (!f) {
        close(pipe_end);
        return;
    }
    while ((n = getline(&text, &room, f)) > 0) {
        if (text[n - 1] == '\n')
            text[n - 1] = '\0';
        line(context, text);
    }
    free(text);
    fclose(f);
}

static void last_line(FILE *f, char said[512])
{
    char text[512];
    said[0] = '\0';
    rewind(f);
    while (fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = '\0';
        if (text[0])
            memcpy(said, text, sizeof text);
    }
}

enum st_code gr_timed_program(const char *const *argv, unsigned limit_s, gr_line_function *line,
                              void *context, struct cost *cost, int *exit_status, char said[512],
                              struct st_error *err)
{
    int ends[2], status;
    struct rusage used;
    FILE *errors = tmpfile();
    if (!errors || pipe2(ends, O_CLOEXEC)) {
        const int why = errno;
        if (errors)
            fclose(errors);
        return st_fail_errno(err, why, "cannot run %s", argv[0]);
    }
    const double begin_s = clock_now_s();
    const pid_t child = fork();
    if (child == 0)
        become(argv, limit_s, ends[1], fileno(errors));
    close(ends[1]);
    if (child < 0) {
        const int why = errno;
        close(ends[0]);
        fclose(errors);
        return st_fail_errno(err, why, "cannot run %s", argv[0]);
    }
    read_lines(ends[0], line, context);
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        continue;
    *cost = cost_of(&used, clock_now_s() - begin_s);
    *exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    last_line(errors, said);
    fclose(errors);
    return ST_OK;
}
