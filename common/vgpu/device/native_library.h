/** @file
 * The translator to native code: a library beside this program (common/vgpu/native), which needs LLVM.
 */
#pragma once

#include "base/status.h"
#include "vgpu/exec/translator.h"

/** Whether the library was built; it may not load even so. */
bool native_library_exists(void);

/** Whether loading has begun: the process must end by _exit(), since destructors would run beside it. */
bool native_library_is_begun(void);

/** Loads the library the first time, which takes some 30 ms. By any thread.
 * @return its translator; NULL with @p err set (which may be NULL) if it or LLVM is not there. */
const struct vg_translator *native_library_load(struct st_error *err);
