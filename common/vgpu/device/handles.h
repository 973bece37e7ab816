/** @file
 * Numbers that clients use instead of pointers, so that a client can refer only to its own objects.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** A growing table; numbers start at @p base and are never reused. */
struct handles {
    void **objects;
    size_t n, live;
    uint64_t base;
};

/** The maximum number of live objects: more than any program needs; it stops a client that creates
 * objects endlessly. */
#define HANDLES_MAX ((size_t)1 << 20)

/** Adds an object. @return its number; 0: out of memory or over HANDLES_MAX. */
uint64_t handles_add(struct handles *table, void *object);
/** @return the object with a number, or NULL. */
void *handles_get(const struct handles *table, uint64_t number);
/** Removes a number. @return its object, or NULL. */
void *handles_remove(struct handles *table, uint64_t number);
/** Calls free_one on every remaining object and empties the table. */
void handles_clear(struct handles *table, void (*free_one)(void *object));
