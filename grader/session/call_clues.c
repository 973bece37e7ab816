#include "grader/session/call_clues.h"

#include "grader/compare/element.h"
#include "grader/session/source_clues.h"
#include "nn/oracle.h"
#include "vgpu/probe/names.h"

#include <stdio.h>
#include <string.h>

/* ---- bytes and elements ---------------------------------------------------------------------- */

/* (Adds up all copies: a single copy of some of the images may happen to have as many bytes.) */
bool gr_clue_bytes(const struct gr_device_record *record, const struct conv_shape *shape, char *to,
                   size_t room)
{
    const struct {
        const char *kind, *what;
        char tensor;
        size_t elems;
    } all[] = {{"copy_dtod", "copied on the device", 'k', nn_conv_k_elems(shape)},
               {"copy_dtoh", "copied to the host", 'y', nn_conv_y_elems(shape)},
               {"memset", "set by cudaMemset", 'y', nn_conv_y_elems(shape)}};
    to[0] = '\0';
    for (size_t t = 0; t < sizeof all / sizeof *all && !to[0]; t++) {
        double bytes = 0;
        for (size_t i = 0; i < record->rows; i++)
            bytes += strcmp(record->row[i].kind, all[t].kind) == 0 ? record->row[i].bytes : 0;
        if (bytes == (double)all[t].elems)
            snprintf(to, room, "%.0f bytes are %s: %c has %.0f elements, which are %.0f bytes",
                     bytes, all[t].what, all[t].tensor, bytes, sizeof(float) * bytes);
    }
    return to[0] != '\0';
}

/* ---- axes of the grid ------------------------------------------------------------------------ */

/* @return the first kernel with a name. */
static const struct gr_device_row *kernel_row(const struct gr_device_record *record,
                                              const char *name, size_t length)
{
    for (size_t i = 0; i < record->rows; i++)
        if (strcmp(record->row[i].kind, "kernel") == 0 && strlen(record->row[i].name) == length &&
            strncmp(record->row[i].name, name, length) == 0)
            return &record->row[i];
    return NULL;
}

bool gr_clue_axes(const struct gr_device_record *record, const struct conv_shape *shape,
                  const char *finding, char *to, size_t room)
{
    const char *kernel = strstr(finding, ", kernel "), *place = strstr(finding, ", block ");
    unsigned block[3];
    to[0] = '\0';
    if (!kernel || !place || !strstr(finding, "past the end") || !strstr(finding, "as large as ") ||
        sscanf(place, ", block %u,%u,%u", &block[0], &block[1], &block[2]) != 3)
        return false;
    kernel += strlen(", kernel ");
    const struct gr_device_row *row = kernel_row(record, kernel, (size_t)(place - kernel));
    const unsigned images = (unsigned)shape->B, maps = (unsigned)shape->M;
    for (int axis = 0; row && axis < 3 && !to[0]; axis++)
        for (int other = 0; other < 3 && !to[0]; other++)
            if (other != axis && images > 1 && images != maps && row->grid[other] == images &&
                row->grid[axis] == maps && block[axis] >= images)
                snprintf(
                    to, room,
                    "blockIdx.%c is %u there, in a grid of (%u,%u,%u) blocks for B = %u images and M = %u maps: does the kernel use that axis for the images, and the launch for the maps?",
                    'x' + axis, block[axis], row->grid[0], row->grid[1], row->grid[2], images,
                    maps);
    return to[0] != '\0';
}

/* ---- threads that return --------------------------------------------------------------------- */

bool gr_clue_left(const struct gr_device_record *record, char *to, size_t room)
{
    const struct tsv *table = &record->work;
    const int name = tsv_column(table, "name"), left = tsv_column(table, "left");
    to[0] = '\0';
    for (size_t i = 0; name >= 0 && left >= 0 && i < table->rows && !to[0]; i++) {
        char kernel[96];
        name_demangle(tsv_cell(table, i, name), kernel, sizeof kernel);
        if (tsv_cell(table, i, left)[0])
            snprintf(to, room, "in kernel %s, %s", kernel, tsv_cell(table, i, left));
    }
    return to[0] != '\0';
}

/* ---- sizes of the grid ----------------------------------------------------------------------- */

static unsigned blocks_for(int elems, unsigned threads)
{
    return ((unsigned)elems + threads - 1) / threads;
}

bool gr_clue_swapped(const struct gr_device_record *record, const struct conv_shape *shape,
                     char *to, size_t room)
{
    const int rows = shape->H - shape->K + 1, columns = shape->W - shape->K + 1;
    to[0] = '\0';
    for (size_t i = 0; i < record->rows && !to[0]; i++) {
        const struct gr_device_row *row = &record->row[i];
        const unsigned *grid = row->grid, *block = row->block;
        if (strcmp(row->kind, "kernel") != 0 || !block[0] || !block[1] || block[1] == 1 ||
            grid[0] != blocks_for(rows, block[0]) || grid[1] != blocks_for(columns, block[1]) ||
            grid[0] == blocks_for(columns, block[0]) || grid[1] == blocks_for(rows, block[1]))
            continue;
        snprintf(
            to, room,
            "the grid has %u x %u blocks of %u x %u threads (x, y), as %d rows along x and %d columns along y need, but y has %d columns and %d rows",
            grid[0], grid[1], block[0], block[1], rows, columns, columns, rows);
    }
    return to[0] != '\0';
}

/* The parts of an output map, or of an image, that blocks along an axis of the grid may store. */
struct part {
    const char *name, *one; /* one: its singular, if a block may store a single part */
    int axis;               /* of the grid; -1: any */
    size_t size, below;     /* how many there are, and the outputs in each */
};

/* @return the number of the first part from which on all outputs, and only these, were never written;
 * 0 if there is none. */
static unsigned written_until(const struct conv_shape *shape, const float *y,
                              const struct part *part)
{
    size_t until = part->size;
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        if (gr_is_unwritten(y[i]) && i / part->below % part->size < until)
            until = i / part->below % part->size;
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        if (gr_is_unwritten(y[i]) != (i / part->below % part->size >= until))
            return 0;
    return (unsigned)until;
}

/* Sets @p until to the numbers of the first column and row from which on all outputs, and only these,
 * were never written. @return false if there are none */
static bool corner_written(const struct conv_shape *shape, const float *y,
                           const struct part part[2], unsigned until[2])
{
    until[0] = until[1] = 0;
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        for (int d = 0; d < 2 && !gr_is_unwritten(y[i]); d++)
            if (i / part[d].below % part[d].size >= until[d])
                until[d] = (unsigned)(i / part[d].below % part[d].size) + 1;
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        if (gr_is_unwritten(y[i]) == (i / part[0].below % part[0].size < until[0] &&
                                      i / part[1].below % part[1].size < until[1]))
            return false;
    return true;
}

/* Writes "the grid of conv at conv.cu:54 has 1 block along x, and a block stores ". */
static size_t say_grid(const struct gr_device_row *row, int axis, const char *source, char *to,
                       size_t room)
{
    char name[64], place[160];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->name, "<("), row->name);
    gr_clue_place_in(source, name, true, place, sizeof place);
    return (size_t)snprintf(
        to, room, "the grid of %.40s%.80s has %u block%s along %c, and a block stores ", row->name,
        place, row->grid[axis], row->grid[axis] > 1 ? "s" : "", 'x' + axis);
}

enum { NO_AXIS = -1, SEVERAL = -2 };

/* @return the axis with as many blocks as maps that were written. */
static int axis_of_maps(const struct gr_device_row *row, const struct part *part, unsigned until)
{
    int found = NO_AXIS;
    for (int axis = 0; axis < 3 && part->one; axis++)
        if (row->grid[axis] == until)
            found = found == NO_AXIS ? axis : SEVERAL;
    return found;
}

/* @return whether there is such an axis; with several ones, @p to remains empty */
static bool find_short(const struct gr_device_row *row, const struct part *part, unsigned until,
                       const char *source, char *to, size_t room)
{
    int found = NO_AXIS;
    for (int axis = 2; axis >= 0; axis--)
        if ((part->axis < 0 || axis == part->axis) && row->block[axis] > 1 &&
            until % (row->grid[axis] * row->block[axis]) == 0)
            found = axis;
    found = found < 0 ? axis_of_maps(row, part, until) : found;
    if (found < 0)
        return found == SEVERAL;
    const unsigned each = until / row->grid[found];
    const size_t used = say_grid(row, found, source, to, room);
    if (used < room)
        snprintf(to + used, room - used, "%u %s: %zu %s need %u blocks", each,
                 each == 1 && part->one ? part->one : part->name, part->size, part->name,
                 blocks_for((int)part->size, each));
    return true;
}

/* Finds out whether blocks along z, numbered row after row, are the tiles of a map that were written. */
static bool find_short_of_tiles(const struct gr_device_row *row, const struct conv_shape *shape,
                                const float *y, const char *source, char *to, size_t room)
{
    enum { Z = 2 };
    const unsigned rows = (unsigned)(shape->H - shape->K + 1),
                   columns = (unsigned)(shape->W - shape->K + 1);
    const unsigned high = row->block[1], wide = row->block[0], blocks = row->grid[Z];
    if (high < 2 || wide < 2 || row->block[Z] > 1)
        return false;
    const unsigned across = blocks_for((int)columns, wide);
    const unsigned all = across * blocks_for((int)rows, high);
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++) {
        const unsigned h = (unsigned)(i / columns % rows), w = (unsigned)(i % columns);
        if (gr_is_unwritten(y[i]) != (h / high * across + w / wide >= blocks))
            return false;
    }
    const size_t used = say_grid(row, Z, source, to, room);
    if (used < room)
        snprintf(to + used, room - used,
                 "%u rows and %u columns: a map of %u rows and %u columns needs %u blocks", high,
                 wide, rows, columns, all);
    return blocks < all;
}

bool gr_clue_short(const struct gr_device_record *record, const struct conv_shape *shape,
                   const float *y, const char *source, char *to, size_t room)
{
    enum { COLUMNS, ROWS, PARTS = 4 };
    const size_t rows = (size_t)(shape->H - shape->K + 1),
                 columns = (size_t)(shape->W - shape->K + 1);
    const struct part parts[PARTS] = {{"columns", NULL, 0, columns, 1},
                                      {"rows", NULL, 1, rows, columns},
                                      {"maps", "map", -1, (size_t)shape->M, rows * columns},
                                      {"outputs of a map", NULL, -1, rows * columns, 1}};
    unsigned until[PARTS] = {0};
    bool found = false;
    to[0] = '\0';
    if (!corner_written(shape, y, parts, until))
        until[COLUMNS] = until[ROWS] = 0;
    for (size_t k = 0; k < PARTS && !found; k++) {
        if (k > ROWS)
            until[k] = written_until(shape, y, &parts[k]);
        for (size_t i = 0; until[k] && until[k] < parts[k].size && i < record->rows && !found; i++)
            found = strcmp(record->row[i].kind, "kernel") == 0 &&
                    find_short(&record->row[i], &parts[k], until[k], source, to, room);
    }
    char tiles[256];
    for (size_t i = 0; i < record->rows; i++) {
        if (strcmp(record->row[i].kind, "kernel") != 0 ||
            !find_short_of_tiles(&record->row[i], shape, y, source, tiles, sizeof tiles))
            continue;
        snprintf(to, room, "%s", found ? "" : tiles);
        return true;
    }
    return found;
}

/* ---- a run ----------------------------------------------------------------------------------- */

void gr_clue_add(const struct gr_device_record *record, const struct conv_shape *shape,
                 const char *source, struct gr_run *run)
{
    char clue[320];
    const char *hint =
        "each axis of the grid needs one meaning: compare the dim3 of the launch with the kernel's use of blockIdx.x, .y and .z";
    const size_t used = strlen(run->message);
    const bool is_outside = strcmp(run->pattern, "out_of_bounds") == 0;
    if (!is_outside && run->outcome != GR_CRASHED)
        return;
    if (!is_outside || !record || !gr_clue_axes(record, shape, run->message, clue, sizeof clue)) {
        hint = gr_clue_source(source, is_outside, clue, sizeof clue);
        if (!hint)
            return;
    }
    snprintf(run->message + used, sizeof run->message - used, "; %s", clue);
    snprintf(run->hint, sizeof run->hint, "%s", hint);
}
