#include "vgpu/exec/code_store.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096 };
static _Alignas(16) unsigned char memory[BYTES];
static struct code_store store = {memory, BYTES};

static void clear(void)
{
    memset(memory, 0, sizeof memory);
}

static void expect(const char *name, const char *code)
{
    size_t bytes = 0;
    char *found = code_store_find(&store, name, &bytes);
    cr_assert(found, "%s", name);
    cr_expect(bytes == strlen(code) && memcmp(found, code, bytes) == 0, "%s", name);
    free(found);
}

Test(code_store, finds_the_code_that_was_added, .init = clear)
{
    size_t bytes;
    cr_expect(!code_store_find(&store, "first", &bytes));
    code_store_add(&store, "first", "abc", 3);
    code_store_add(&store, "second", "", 0);
    code_store_add(&store, "third", "0123456789abcdefg", 17);
    expect("first", "abc");
    expect("second", "");
    expect("third", "0123456789abcdefg");
    cr_expect(!code_store_find(&store, "fourth", &bytes));
}

Test(code_store, what_does_not_fit_is_left_out, .init = clear)
{
    static const char large[BYTES];
    size_t bytes;
    code_store_add(&store, "large", large, sizeof large);
    cr_expect(!code_store_find(&store, "large", &bytes));
    int added = 0;
    for (int i = 0; i < 100; i++) {
        char name[16];
        void *found;
        snprintf(name, sizeof name, "%d", i);
        code_store_add(&store, name, large, 500);
        if ((found = code_store_find(&store, name, &bytes)))
            added++;
        free(found);
    }
    cr_expect(added >= 5 && added <= 8, "%d", added);
}

Test(code_store, without_memory_it_is_empty)
{
    const struct code_store none = {NULL, 0};
    size_t bytes;
    code_store_add(&none, "name", "abc", 3);
    cr_expect(!code_store_find(&none, "name", &bytes));
}

/* Another process may leave any contents in the store. */
Test(code_store, nothing_outside_is_read, .init = clear)
{
    uint32_t state = 1;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof memory; i++)
            memory[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
        memset(memory, round % 3 ? 0xff : 0, 4);
        memory[16 + 8] = 1;
        if (round % 2)
            memset(memory + 16, 0, 7);
        size_t bytes = 0;
        void *found = code_store_find(&store, round % 2 ? "" : "name", &bytes);
        cr_expect(!found || bytes <= BYTES);
        free(found);
    }
}
