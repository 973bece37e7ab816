/** @file
 * Arrays that grow by one element.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Makes room after the @p n elements of a malloc'd array, which grows if n is 0 or a power of two,
 * so that its capacity need not be stored. @param array  the address of the pointer. @return false
 * without memory, with the array unchanged */
bool array_room(void *array, size_t n, size_t element_bytes);

/** The same, for a variable of a pointer's type. */
#define ARRAY_ROOM(array, n) array_room(&(array), (size_t)(n), sizeof *(array))
