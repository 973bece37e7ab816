/** @file
 * Arrays to which elements are appended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Makes room for one element after the @p n elements of a malloc'd array. The array grows if n is
 * 0 or a power of two, so its capacity need not be stored. @param array  the address of the
 * pointer. @return false if out of memory; the array is then unchanged. */
bool array_room(void *array, size_t n, size_t element_bytes);

/** array_room() for a pointer variable of any type. */
#define ARRAY_ROOM(array, n) array_room(&(array), (size_t)(n), sizeof *(array))
