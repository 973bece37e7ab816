#include "base/lock.h"

#include "base/tests/temp_folder.h"

#include <signal.h>
#include <sys/wait.h>

TestSuite(lock, .init = temp_folder_make, .fini = temp_folder_remove);

/* A child that adds one to the number in a file ten times, each time with the lock held. */
static void add_ten(const char *path, const char *lock)
{
    for (int i = 0; i < 10; i++) {
        int fd, n = 0;
        if (lock_take(lock, LOCK_ALONE, &fd, NULL))
            _exit(1);
        FILE *f = fopen(path, "r+");
        if (!f || fscanf(f, "%d", &n) != 1)
            _exit(2);
        usleep(500);
        rewind(f);
        fprintf(f, "%d", n + 1);
        fclose(f);
        lock_release(fd);
    }
    _exit(0);
}

Test(lock, is_held_by_one_process_at_a_time)
{
    const char *path = temp_file("number", "0", 1), *lock = temp_path("lock");
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            add_ten(path, lock);
    int status, n = 0;
    for (int i = 0; i < 3; i++) {
        wait(&status);
        cr_expect_eq(status, 0);
    }
    FILE *f = fopen(path, "r");
    cr_assert(f && fscanf(f, "%d", &n) == 1);
    fclose(f);
    cr_expect_eq(n, 30);
}

Test(lock, goes_with_its_holder)
{
    const char *lock = temp_path("lock");
    int ready[2], fd;
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (lock_take(lock, LOCK_ALONE, &fd, NULL) || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    cr_expect_eq(lock_take(lock, LOCK_ALONE, &fd, NULL), ST_OK); /* would wait for ever */
    lock_release(fd);
    waitpid(pid, NULL, 0);
}

Test(lock, that_cannot_be_made_is_reported)
{
    struct st_error err;
    int fd;
    cr_expect_eq(lock_take(temp_path("none/lock"), LOCK_ALONE, &fd, &err), ST_NOT_FOUND);
    cr_expect_eq(fd, -1);
    cr_expect_str_eq(err.where, temp_path("none/lock"));
}
