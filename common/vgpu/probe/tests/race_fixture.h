/** @file
 * The shadow memory that the tests of the suite `race` fill with accesses.
 */
#pragma once

#include "vgpu/probe/race.h"

/** Of 256 bytes; opened before each test and closed after it. */
extern struct race_shadow shadow;
