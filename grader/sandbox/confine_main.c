/* The first process of a sandbox: sets the limits, starts the program as its only child, and
 * reports the program's end to the grader.
 *
 *     confine --try                        ends at once, which shows that the sandbox works
 *     confine report=FD life=FD [user=UID] [processes=N] [files=N] [cpu=S] [file=BYTES]
 * [data=BYTES] [address=BYTES] keep=N -- PROGRAM ARGUMENTS
 *
 * bubblewrap starts this program (box.c), never a person. The program gets the descriptors 0 to
 * keep-1. This process keeps none of them, so that a channel closes when the program ends;
 * processes that the program leaves behind become its children and end with it. When the other end
 * of the pipe life= closes, because the grader closes it or has died, this process ends, and the
 * kernel ends all others. From inside, this process cannot be read, traced or killed: it is process
 * 1 there, not dumpable and, with user=, it belongs to another user. */
#include "grader/sandbox/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
} limits[] = {{"processes=", RLIMIT_NPROC}, {"files=", RLIMIT_NOFILE}, {"cpu=", RLIMIT_CPU},
              {"file=", RLIMIT_FSIZE},      {"data=", RLIMIT_DATA},    {"address=", RLIMIT_AS}};

/* The value of NAME=VALUE, or @p otherwise. */
static unsigned long long option(char **argv, const char *name, unsigned long long otherwise)
{
    const size_t length = strlen(name);
    for (; *argv && strcmp(*argv, "--") != 0; argv++)
        if (strncmp(*argv, name, length) == 0)
            return strtoull(*argv + length, NULL, 10);
    return otherwise;
}

/* Runs in the child: reports that one of our calls failed and that the program has not run. */
static void give_up(int failure)
{
    const ssize_t ignored = write(failure, "!", 1);
    (void)ignored;
    _exit(CONFINE_FAILED);
}

/* Sets a limit, unless the process that started the grader has set a lower one, which cannot be
 * raised. */
static bool narrow(int resource, rlim_t most)
{
    struct rlimit own;
    if (most == RLIM_INFINITY)
        return true;
    if (getrlimit(resource, &own))
        return false;
    if (own.rlim_max < most)
        most = own.rlim_max;
    return setrlimit(resource, &(struct rlimit){most, most}) == 0;
}

static void become(char **argv, char **program, int failure)
{
    const unsigned user = (unsigned)option(argv, "user=", 0);
    const int keep = (int)option(argv, "keep=", 3);
    /* Keep the program's descriptors, and the pipe that closes when the program starts. */
    if (failure >= keep)
        syscall(SYS_close_range, keep, failure - 1, 0);
    syscall(SYS_close_range, failure + 1, ~0u, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (user && (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user)))
        give_up(failure);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!narrow(limits[i].resource, option(argv, limits[i].name, RLIM_INFINITY)))
            give_up(failure);
    execvp(program[0], program);
    fprintf(stderr, "cannot start %s: %s\n", program[0], strerror(errno));
    give_up(failure);
}

/* Closes all descriptors except these. */
static void keep_only(const int *kept, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        most = kept[i] > most ? kept[i] : most;
    for (int fd = 0; fd < most; fd++) {
        bool keep = false;
        for (int i = 0; i < n; i++)
            keep = keep || fd == kept[i];
        if (!keep)
            close(fd);
    }
    syscall(SYS_close_range, most + 1, ~0u, 0);
}

/* Reaps ended processes until the child ends or the box must end. @return false: the box must
 * end. */
static bool wait_for(pid_t child, int *status, int ended, int life)
{
    struct pollfd on[] = {{.fd = ended, .events = POLLIN}, {.fd = life, .events = POLLIN}};
    for (pid_t gone;;) {
        struct signalfd_siginfo one;
        while ((gone = waitpid(-1, status, WNOHANG)) > 0)
            if (gone == child)
                return true;
        if ((gone < 0 && errno == ECHILD) || (poll(on, 2, -1) < 0 && errno != EINTR) ||
            on[1].revents)
            return false;
        if (on[0].revents && read(ended, &one, sizeof one) < 0 && errno != EINTR)
            return false;
    }
}

/* Shortens the command line of process 1 to the program's name: all processes in the sandbox can
 * read it, and it contains names of the machine's files. @return a copy of the words */
static char **take_words(int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    for (int i = 0; words && i < argc; i++)
        if (!(words[i] = strdup(argv[i])))
            return NULL;
    char *const rest = argv[0] + strlen(argv[0]);
    memset(rest, 0, (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - rest));
    return words;
}

int main(int argc, char **argv)
{
    int status = 0, failure[2];
    char byte;
    sigset_t child_ended;
    if (argc == 2 && strcmp(argv[1], "--try") == 0)
        return 0;
    if (argc < 3 || !(argv = take_words(argc, argv)))
        return CONFINE_FAILED;
    char **program = argv + 1;
    while (*program && strcmp(*program, "--") != 0)
        program++;
    const int report = (int)option(argv + 1, "report=", (unsigned)-1);
    const int life = (int)option(argv + 1, "life=", (unsigned)-1);
    if (!*program || !program[1] || report < 0 || life < 0)
        return CONFINE_FAILED;
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case bubblewrap is killed */
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, NULL);
    const int ended = signalfd(-1, &child_ended, SFD_CLOEXEC);
    if (ended < 0 || pipe2(failure, O_CLOEXEC))
        return CONFINE_FAILED;
    const pid_t child = fork();
    if (child == 0)
        become(argv + 1, program + 1, failure[1]);
    close(failure[1]);
    if (child < 0 || read(failure[0], &byte, 1) != 0)
        return CONFINE_FAILED;
    keep_only((const int[]){report, life, ended}, 3);
    if (!wait_for(child, &status, ended, life))
        return CONFINE_FAILED;
    if (write(report, &status, sizeof status) != sizeof status)
        return CONFINE_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
