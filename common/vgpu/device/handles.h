/** @file
 * Numbers for objects, which a client holds instead of pointers, so that it can name only
 * its own objects.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** A growing table; numbers start at @p base and are never used twice. */
struct handles {
    void **objects;
    size_t n, live;
    uint64_t base;
};

/** Objects at a time: more than any program needs; a client that makes them without end comes to
 * one. */
#define HANDLES_MAX ((size_t)1 << 20)

/** Adds an object. @return its number, or 0 without memory or beyond HANDLES_MAX. */
uint64_t handles_add(struct handles *table, void *object);
/** @return the object, or NULL if there is none of that number. */
void *handles_get(const struct handles *table, uint64_t number);
/** Forgets a number. @return the object it had, or NULL. */
void *handles_remove(struct handles *table, uint64_t number);
/** Calls free_one on every object left and empties the table. */
void handles_clear(struct handles *table, void (*free_one)(void *object));
