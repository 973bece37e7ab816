/** @file
 * The lanes of a warp.
 */
#pragma once

enum { VG_LANES = 32 };
/** A mask of all lanes. */
#define VG_FULL 0xffffffffu
