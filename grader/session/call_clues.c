#include "grader/session/call_clues.h"

#include "base/files.h"
#include "base/shown_path.h"
#include "grader/compare/element.h"
#include "grader/session/loop_names.h"
#include "nn/oracle.h"
#include "vgpu/probe/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (!kernel || !place || !strstr(finding, "past the end") ||
        sscanf(place, ", block %u,%u,%u", &block[0], &block[1], &block[2]) != 3)
        return false;
    kernel += strlen(", kernel ");
    const struct gr_device_row *row = kernel_row(record, kernel, (size_t)(place - kernel));
    const unsigned images = (unsigned)shape->B, maps = (unsigned)shape->M;
    for (int axis = 0; row && axis < 3 && !to[0]; axis++)
        for (int other = 0; other < 3 && !to[0]; other++)
            if (other != axis && images != maps && row->grid[other] == images &&
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

/* @return the number of the first row (or column) from which on all outputs, and only these, were
 * never written; 0 if there is none. */
static int written_until(const struct conv_shape *shape, const float *y, bool of_rows)
{
    const size_t rows = (size_t)(shape->H - shape->K + 1),
                 columns = (size_t)(shape->W - shape->K + 1);
    size_t until = of_rows ? rows : columns;
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++) {
        const size_t at = of_rows ? i / columns % rows : i % columns;
        if (gr_is_unwritten(y[i]) && at < until)
            until = at;
    }
    for (size_t i = 0; i < nn_conv_y_elems(shape); i++)
        if (gr_is_unwritten(y[i]) != ((of_rows ? i / columns % rows : i % columns) >= until))
            return 0;
    return (int)until;
}

bool gr_clue_short(const struct gr_device_record *record, const struct conv_shape *shape,
                   const float *y, char *to, size_t room)
{
    to[0] = '\0';
    for (int axis = 0; axis < 2 && !to[0]; axis++) {
        const int all = axis ? shape->H - shape->K + 1 : shape->W - shape->K + 1;
        const char *const of = axis ? "rows" : "columns";
        const unsigned until = (unsigned)written_until(shape, y, axis);
        for (size_t i = 0; until && until < (unsigned)all && i < record->rows && !to[0]; i++) {
            const struct gr_device_row *row = &record->row[i];
            const unsigned blocks = row->grid[axis], threads = row->block[axis];
            if (strcmp(row->kind, "kernel") != 0 || threads < 2 || until % (blocks * threads))
                continue;
            const unsigned each = until / blocks;
            snprintf(
                to, room,
                "the grid of %.40s has %u block%s along %c, and a block stores %u %s: %d %s need %u blocks",
                row->name, blocks, blocks > 1 ? "s" : "", 'x' + axis, each, of, all, of,
                blocks_for(all, each));
        }
    }
    return to[0] != '\0';
}

/* ---- cases of a switch ----------------------------------------------------------------------- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* @return the next occurrence of the word as a whole word, or NULL. */
static const char *word_in(const char *text, const char *end, const char *word)
{
    const size_t n = strlen(word);
    for (const char *c = text; (c = strstr(c, word)) != NULL && c < end; c += n)
        if ((c == text || !in_word(c[-1])) && !in_word(c[n]))
            return c;
    return NULL;
}

/* @return the end of a case's code: the next case, or the end of the switch or of its macro. */
static const char *behind_case(const char *c, bool *is_last)
{
    int depth = 0;
    for (; *c; c++) {
        *is_last = *c == '}' && depth == 0;
        if (*is_last || (*c == '\n' && c[-1] != '\\' && c[1] == '#'))
            return c;
        depth += (*c == '{') - (*c == '}');
        if (!in_word(c[-1]) && (word_in(c, c + 1, "case") || word_in(c, c + 1, "default")))
            return c;
    }
    return c;
}

static bool ends_itself(const char *c, const char *end)
{
    static const char *const words[] = {"break", "return",      "continue",
                                        "goto",  "fallthrough", "__fallthrough__"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_in(c, end, words[i]))
            return true;
    return false;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* Finds the first NAME<NUMBER>. @return its number, or -1; then @p name is empty */
static long instance_in(const char *c, const char *end, char name[64])
{
    for (; c < end; c++) {
        char *behind;
        const char *begin = c;
        if (*c != '<' || !isdigit((unsigned char)c[1]) || !in_word(c[-1]))
            continue;
        const long number = strtol(c + 1, &behind, 10);
        while (in_word(begin[-1]))
            begin--;
        if ((*behind != '>' && *behind != ',') || isdigit((unsigned char)*begin))
            continue;
        snprintf(name, 64, "%.*s", (int)(c - begin), begin);
        return number;
    }
    name[0] = '\0';
    return -1;
}

/* Finds a case that calls another case's instance; sets *own if a case calls its own instance. */
static void look_at_instance(const char *text, const char *label, const char *body, const char *end,
                             const char *shown, bool *own, char *to, size_t room)
{
    char name[64], *behind;
    const long number = strtol(label, &behind, 10), instance = instance_in(body, end, name);
    if (behind == label || instance < 0)
        return;
    *own |= instance == number;
    if (instance != number && !to[0])
        snprintf(to, room,
                 "case %ld at %s:%d calls %s<%ld>; another case calls the kernel of its own number",
                 number, shown, line_of(text, label), name, instance);
}

bool gr_clue_switch(char *text, const char *shown, char *to, size_t room)
{
    const char *const behind = text + strlen(text);
    char wrong[160] = "";
    bool own = false, is_last = false;
    to[0] = '\0';
    gr_blank_comments(text);
    for (const char *c = text; (c = word_in(c, behind, "case")) != NULL;) {
        const char *label = c + strlen("case") + strspn(c + strlen("case"), " \t");
        const char *colon = strchr(label, ':');
        const char *body = colon ? colon + 1 : behind;
        const char *end = behind_case(body, &is_last);
        if (!to[0] && !is_last && memchr(body, ';', (size_t)(end - body)) &&
            !ends_itself(body, end))
            snprintf(to, room, "the case at %s:%d has no break, so the next case runs, too", shown,
                     line_of(text, c));
        look_at_instance(text, label, body, end, shown, &own, wrong, sizeof wrong);
        c = body;
    }
    if (!to[0] && own && wrong[0])
        snprintf(to, room, "%s", wrong);
    return to[0] != '\0';
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool read_switch(const char *source, char *to, size_t room)
{
    enum { MOST_BYTES = 4 << 20 };
    char *text;
    size_t bytes;
    struct st_error ignored;
    if (!source || file_read(source, MOST_BYTES, &text, &bytes, &ignored))
        return false;
    const bool found = gr_clue_switch(text, path_shown(source, source), to, room);
    free(text);
    return found;
}

void gr_clue_add(const struct gr_device_record *record, const struct conv_shape *shape,
                 const char *source, struct gr_run *run)
{
    char clue[320];
    const char *hint =
        "each axis of the grid needs one meaning: compare the dim3 of the launch with the kernel's use of blockIdx.x, .y and .z";
    const size_t used = strlen(run->message);
    if (strcmp(run->pattern, "out_of_bounds") != 0)
        return;
    if (!record || !gr_clue_axes(record, shape, run->message, clue, sizeof clue)) {
        hint =
            "end each case with break, and let it call the kernel that is compiled for its number";
        if (!read_switch(source, clue, sizeof clue))
            return;
    }
    snprintf(run->message + used, sizeof run->message - used, "; %s", clue);
    snprintf(run->hint, sizeof run->hint, "%s", hint);
}
