/** @file
 * The options of a grading, and the options that several commands share.
 */
#pragma once

#include "base/option_table.h"
#include "base/status.h"
#include "grader/course/rubric.h"
#include "grader/sandbox/sandbox.h"
#include "vgpu/device/device_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The model of a grading, unless the rubric or --model names another. */
#define GR_DEFAULT_MODEL "two-layer"

enum {
    GR_MAX_SIZES = 16,
    GR_MAX_IMAGES = 10000,
    GR_IMAGES_CHARS = GR_MAX_SIZES * 6,
    GR_MAX_MILESTONES = 64
};

/** The options of a grading; strings point into argv. */
struct gr_options {
    const char *milestone;                     /**< "m1": the milestone that is being graded */
    const char *milestones[GR_MAX_MILESTONES]; /**< all milestones, in the order of the command
                                                    line */
    size_t milestone_count;
    bool reference;     /**< --reference */
    const char *lib;    /**< --lib FILE, or NULL */
    const char *file;   /**< --source FILE, or NULL */
    const char *device; /**< --device: auto, gpu, virtual or virtual:PROFILE */
    const char *engine; /**< --engine: the virtual GPU's; NULL: the default */
    const char *model;  /**< --model: a name in data/models, or a path; NULL: not chosen yet */
    const char *shapes; /**< --shapes FILE, or NULL */
    size_t sizes;       /**< number of data-set sizes */
    size_t images[GR_MAX_SIZES];  /**< ascending */
    bool sizes_given;             /**< by --images */
    const char *report;           /**< --report DIR, or NULL for build/report/mN */
    const char *json;             /**< --json FILE or -, or NULL */
    uint64_t seed;                /**< --seed, or a new random seed */
    bool quick;                   /**< --quick */
    bool profile;                 /**< --profile */
    bool first_failure;           /**< --first-failure */
    bool accept_near;             /**< --accept-near */
    bool unproved;                /**< not an option: proof_bench.c measures the proof's cost */
    enum gr_sandbox_wish sandbox; /**< --no-sandbox, --require-sandbox */
};

/** --device, --engine, --images and --model, which several commands take: rows of an option table.
 * @param at  offset of the command's struct gr_options */
#define GR_OPTION_ROWS(at)                                                                                                       \
    {"device",                                                                                                                   \
     0,                                                                                                                          \
     "DEVICE",                                                                                                                   \
     "gpu, virtual or virtual:PROFILE; default auto: the GPU if the machine has one, else the virtual GPU (m1 runs on the CPU)", \
     .kind = OPTION_KIND_TAKE,                                                                                                   \
     .offset = (at) + offsetof(struct gr_options, device),                                                                       \
     .take = gr_options_take_device},                                                                                            \
        {"engine",                                                                                                               \
         0,                                                                                                                      \
         "ENGINE",                                                                                                               \
         VG_ENGINE_HELP,                                                                                                         \
         .kind = OPTION_KIND_WORD,                                                                                               \
         .offset = (at) + offsetof(struct gr_options, engine),                                                                   \
         .words = vg_engine_words},                                                                                              \
        {"model",                                                                                                                \
         0,                                                                                                                      \
         "NAME",                                                                                                                 \
         "one-layer-high, one-layer-low, two-layer (default), two-layer-86, or the path of a .safetensors file",                 \
         .kind = OPTION_KIND_TEXT,                                                                                               \
         .offset = (at) + offsetof(struct gr_options, model)},                                                                   \
    {                                                                                                                            \
        "images", 0, "N,N,...", "numbers of images (default: the rubric's)",                                                     \
            .kind = OPTION_KIND_TAKE, .offset = (at), .take = gr_options_take_images                                             \
    }

/** Reads --device into a const char *. */
option_take gr_options_take_device;

/** Reads --images into a struct gr_options. */
option_take gr_options_take_images;

/** The defaults of a grading: device auto, the course's sizes, a new random seed, no model. */
struct gr_options gr_options_default(void);

/** Without --images, chooses the sizes of the rubric's items, including "speed"; if the rubric has
 * none, the course's sizes stay. With --quick, keeps only the smallest of these sizes. Without
 * --model, chooses the model of the item "speed", else GR_DEFAULT_MODEL. @param rubric  or NULL */
void gr_options_choose(struct gr_options *options, const struct gr_rubric *rubric);

/** @return whether a grading with these options checks an automatic item of the rubric. */
bool gr_options_ask_for(const struct gr_options *options, const struct gr_item *item);

/** Writes the sizes in the form of --images: "100,1000". @return @p to. */
char *gr_options_images(const struct gr_options *options, char to[GR_IMAGES_CHARS]);
