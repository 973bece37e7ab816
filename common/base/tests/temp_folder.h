/* A separate folder for each test that needs files; it is removed with its contents. */
#pragma once

#include <criterion/criterion.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The files of a test program share it. */
__attribute__((common)) char temp_folder[PATH_MAX - 256];

/* For a suite's .init. */
static inline void temp_folder_make(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(temp_folder, sizeof temp_folder, "%s/convlab-test-XXXXXX",
             parent && parent[0] ? parent : "/tmp");
    cr_assert(mkdtemp(temp_folder), "cannot make %s", temp_folder);
}

static inline int temp_folder_remove_one(const char *path, const struct stat *info, int type,
                                         struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

/* For a suite's .fini. */
static inline void temp_folder_remove(void)
{
    nftw(temp_folder, temp_folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* @return the path of a file in the folder; valid until eight more calls. */
static inline const char *temp_path(const char *name)
{
    static char path[8][PATH_MAX];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", temp_folder, name);
    return path[next];
}

/* Makes a file. @return its path, like temp_path(). */
static inline const char *temp_file(const char *name, const void *bytes, size_t n)
{
    const char *path = temp_path(name);
    FILE *f = fopen(path, "wbe");
    cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "cannot write %s", path);
    return path;
}
