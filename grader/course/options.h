/** @file
 * What a grading is asked for, and the options that several commands share.
 */
#ifndef CONVLAB_GRADER_OPTIONS_H
#define CONVLAB_GRADER_OPTIONS_H

#include "base/status.h"
#include "grader/sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GR_MAX_SIZES = 16, GR_MAX_IMAGES = 10000, GR_IMAGES_CHARS = GR_MAX_SIZES * 6 };

/** What was asked for; strings point into argv. */
struct gr_options {
    const char *milestone;        /**< "m1" */
    bool reference;               /**< --reference */
    const char *lib;              /**< --lib FILE, or NULL */
    const char *file;             /**< --source FILE, or NULL */
    const char *device;           /**< --device: auto, gpu, virtual or virtual:PROFILE */
    const char *model;            /**< --model, a name in data/models or a path */
    const char *shapes;           /**< --shapes FILE, or NULL */
    size_t sizes;                 /**< how many data-set sizes */
    size_t images[GR_MAX_SIZES];  /**< ascending */
    bool sizes_given;             /**< --images was there */
    const char *report;           /**< --report DIR, or NULL for build/report/mN */
    const char *json;             /**< --json FILE or -, or NULL */
    uint64_t seed;                /**< --seed, or fresh */
    bool quick;                   /**< --quick */
    bool profile;                 /**< --profile */
    enum gr_sandbox_wish sandbox; /**< --no-sandbox, --require-sandbox */
};

struct argp;
struct argp_state;

/** --device, --images and --model, which several commands take: an argp child, whose input is a
 * struct gr_options. */
extern const struct argp gr_options_common;

/** The sizes as --images takes them: "100,1000". @return @p to. */
char *gr_options_images(const struct gr_options *options, char to[GR_IMAGES_CHARS]);

/** What --seed says, or an error as argp reports it. */
void gr_options_seed(struct gr_options *options, const char *seed, struct argp_state *state);

#endif
