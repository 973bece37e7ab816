/** @file
 * The translator to native code: a library (common/vgpu/native) beside this program; it needs LLVM.
 */
#pragma once

#include "base/status.h"
#include "vgpu/exec/translator.h"

/** @return whether the library was built; loading it may still fail. */
bool native_library_exists(void);

/** @return whether loading has begun: then the process must end by _exit(), because destructors
 * could run while it still loads. */
bool native_library_is_begun(void);

/** Loads the library at the first call, which takes about 30 ms. Any thread may call it.
 * @return its translator; NULL, with @p err set unless it is NULL, if the library or LLVM is
 * missing. */
const struct vg_translator *native_library_load(struct st_error *err);
