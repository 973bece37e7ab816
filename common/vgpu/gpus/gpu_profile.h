/** @file
 * Descriptions of GPUs: gpus/NAME.yaml, read into struct vg_profile.
 */
#pragma once

#include "base/status.h"
#include "vgpu/api/vgpu.h"

#define VG_PROFILE_DEFAULT "h200"

/** Reads a profile. @param name  "h200" for the file h200.yaml in @p folder, or the path of a file
 * if it contains a '/'. @return ST_OK; ST_NOT_FOUND with the existing names in the hint;
 * ST_BAD_FORMAT with the line of an unknown, missing or impossible value. */
enum st_code vg_profile_read(struct vg_profile *to, const char *folder, const char *name,
                             struct st_error *err);

/** Lists the names of the profiles: "a40, h100, h200". @return their number, or less than 0 if there
 * is no such folder */
int vg_profile_names(const char *folder, char *to, size_t room);

/** Finds the profile of a real GPU. @param product  the driver's name, for instance "NVIDIA H200"
 * @return whether @p folder has a profile of it; then @p to is set */
bool vg_profile_find(struct vg_profile *to, const char *folder, const char *product);
