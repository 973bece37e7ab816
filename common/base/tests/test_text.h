/** @file
 * Texts that tests compare: contents of files, and the output of functions.
 */
#pragma once

#include "base/checkout.h"
#include "base/files.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Reads a whole file. @return malloc'd text (noinline: gcc 12 would believe that it points to
 * `text`.) */
static __attribute__((unused, noinline)) char *text_of_file(const char *path)
{
    char *text;
    size_t bytes;
    struct st_error err = {0};
    cr_assert_eq(file_read(path, 16 << 20, &text, &bytes, &err), ST_OK, "%s: %s", path, err.what);
    return text;
}

/** The path of a file of the checkout; valid until four more calls. */
static inline const char *checkout_file(const char *name)
{
    static char path[4][PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    path_format(path[next], sizeof path[next], "%s/%s", checkout_root(NULL), name);
    return path[next];
}

/** Expects a text to equal a file's; with CONVLAB_ACCEPT set, first writes the text to the file. */
static inline void expect_golden(const char *path, const char *text)
{
    if (getenv("CONVLAB_ACCEPT"))
        cr_assert_eq(file_write(path, text, strlen(text), NULL), ST_OK, "%s", path);
    char *golden = text_of_file(path);
    cr_expect_str_eq(text, golden, "%s", path);
    free(golden);
}

/** Expects a part of an error ("what", "where", ...) to contain a text. */
static inline void expect_detail(const char *part, const char *text, const char *expected)
{
    cr_expect(strstr(text, expected), "%s is \"%s\" without \"%s\"", part, text, expected);
}

/** Sets @p to to the output of a call that prints to `out`, malloc'd. */
#define PRINTED(to, call)                                                                          \
    do {                                                                                           \
        size_t printed_bytes;                                                                      \
        FILE *out = open_memstream(&(to), &printed_bytes);                                         \
        cr_assert(out);                                                                            \
        call;                                                                                      \
        fclose(out);                                                                               \
    } while (0)
