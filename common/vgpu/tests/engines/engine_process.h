/** @file
 * The interface between the comparing process and the processes that run one case each.
 */
#pragma once

#include "vgpu/exec/translator.h"
#include "vgpu/tests/engines/engine_spoil.h"
#include "vgpu/tests/engines/engine_variant.h"

/** Runs a case in this process. */
struct outcome variant_run_here(const struct variant *variant, const struct engine_case *c);
/** Sets the mistake that the translator makes from now on, or NULL. Native code must then be
 * translated before it runs, and on one core. */
void variant_spoil(const struct engine_spoil *spoil);
/** Loads the translator, once. @return NULL: no translator exists. */
const struct vg_translator *variant_translator(void);
