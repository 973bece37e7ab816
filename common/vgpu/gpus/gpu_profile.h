/** @file
 * GPU descriptions: profiles/NAME.yaml read into struct vg_profile.
 */
#pragma once

#include "base/status.h"
#include "vgpu/api/vgpu.h"

#define VG_PROFILE_DEFAULT "h200"

/** Reads a profile. @param name  "h200" for the file h200.yaml in @p folder, or the path of a file
 * if it contains a '/'. @return ST_OK; ST_NOT_FOUND with the names there are in the hint;
 * ST_BAD_FORMAT with the line for an unknown, missing or impossible value. */
enum st_code vg_profile_read(struct vg_profile *to, const char *folder, const char *name,
                             struct st_error *err);

/** Finds the profile of a real GPU. @param product  as the driver names it: "NVIDIA H200"
 * @return whether there is one in @p folder; then @p to is it */
bool vg_profile_find(struct vg_profile *to, const char *folder, const char *product);
