/** @file
 * The interface between the comparing process and the processes that run one case each.
 */
#pragma once

#include "vgpu/exec/translator.h"
#include "vgpu/tests/engines/engine_spoil.h"
#include "vgpu/tests/engines/engine_variant.h"

/** Runs a case in this process. */
struct outcome variant_run_here(const struct variant *variant, const struct engine_case *c);
/** Sets a mistake for the translator to make from now on, or NULL. Native code must then be
 * translated before it runs, and on one core. */
void variant_spoil(const struct engine_spoil *spoil);
/** Loads the translator, once. @return NULL without a translator. */
const struct vg_translator *variant_translator(void);
