#include "grader/technique/executed.h"

#include "base/array_room.h"
#include "nn/oracle.h"
#include "vgpu/api/vgpu.h"
#include "vgpu/probe/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a number for a module from the hash of its PTX. */
static uint64_t module_number(const char *hash)
{
    char digits[13];
    snprintf(digits, sizeof digits, "%.12s", hash);
    return strtoull(digits, NULL, 16) << 16;
}

static uint64_t code_of(const char *hash, long function, long block)
{
    return module_number(hash) ^ ((uint64_t)function << 40) ^ (uint64_t)block;
}

static int compare_blocks(const void *a, const void *b)
{
    const struct gr_executed_block *p = a, *q = b;
    return (p->code > q->code) - (p->code < q->code);
}

static struct gr_executed_block *find(const struct gr_executed *in, uint64_t code)
{
    const struct gr_executed_block key = {.code = code};
    return in->blocks ? bsearch(&key, in->block, in->blocks, sizeof key, compare_blocks) : NULL;
}

static bool append(struct gr_executed *to, struct gr_executed_block block)
{
    if (!ARRAY_ROOM(to->block, to->blocks))
        return false;
    to->block[to->blocks++] = block;
    return true;
}

/* @return the bytes that a launch sends in its parameters: addresses and indices do not count. */
static double parameters_sent(const struct tsv *table, size_t row, int bytes)
{
    enum { ADDRESSES = 16 };
    return fmax(0, strtod(tsv_cell(table, row, bytes), NULL) - ADDRESSES);
}

/* Merges blocks that have the same code. */
static void join(struct gr_executed *e)
{
    size_t n = 0;
    if (e->blocks)
        qsort(e->block, e->blocks, sizeof *e->block, compare_blocks);
    for (size_t i = 0; i < e->blocks; i++) {
        if (n && e->block[n - 1].code == e->block[i].code) {
            e->block[n - 1].threads += e->block[i].threads;
            e->block[n - 1].works |= e->block[i].works;
            e->block[n - 1].each = fmax(e->block[n - 1].each, e->block[i].each);
        } else
            e->block[n++] = e->block[i];
    }
    e->blocks = n;
}

/* Reads "FUNCTION.BLOCK:THREADS ..." of one launch; an asterisk marks blocks that work. */
static bool take_kernel(struct gr_executed *to, const char *name, const char *hash,
                        const char *blocks)
{
    struct gr_executed_block block;
    name_demangle(name, block.kernel, sizeof block.kernel);
    for (const char *at = blocks; *at;) {
        char *end;
        const long f = strtol(at, &end, 10), b = *end == '.' ? strtol(end + 1, &end, 10) : -1;
        if (b < 0 || *end != ':')
            return true; /* the text is malformed */
        block.threads = strtod(end + 1, &end);
        block.each = 0;
        block.works = *end == '*';
        block.code = code_of(hash, f, b);
        if (!append(to, block))
            return false;
        at = end + strspn(end, "* ");
    }
    return true;
}

bool gr_is_counter(const char *name)
{
    static const char *const all[] = {
        "class_tensor", /* of the table of counters */
#define COUNTER(name, ncu, text) #name,
#include "vgpu/api/trace_columns.def"
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], name) == 0)
            return true;
    return false;
}

static void add_counted(struct gr_executed *to, const struct gr_item *technique,
                        const struct gr_device_record *record, const struct conv_shape *shape)
{
    for (unsigned i = 0; technique && i < technique->counted_count; i++) {
        const double each = (double)gr_device_counter(record, NULL, technique->counted[i]) /
                            (double)nn_conv_y_elems(shape);
        to->counted[i] = to->runs && to->counted[i] < each ? to->counted[i] : each;
    }
    to->runs++;
}

const char *gr_executed_lacks(const struct gr_item *technique, const struct gr_executed *run,
                              const struct gr_executed *proved, double part)
{
    for (unsigned i = 0; technique && i < technique->counted_count; i++)
        if (run->counted[i] < part * proved->counted[i])
            return technique->counted[i];
    return NULL;
}

bool gr_executed_add(struct gr_executed *to, const struct gr_item *technique,
                     const struct gr_device_record *record, const struct conv_shape *shape,
                     bool host_tensors)
{
    const struct tsv *table = &record->work;
    const int kind = tsv_column(table, "kind"), name = tsv_column(table, "name"),
              hash = tsv_column(table, "ptx_hash"), blocks = tsv_column(table, "blocks"),
              bytes = tsv_column(table, "bytes");
    double sent = 0, passed = 0;
    bool good = true;
    for (size_t i = 0; i < table->rows && good; i++) {
        const char *what = tsv_cell(table, i, kind);
        if (strcmp(what, "kernel") == 0) {
            passed += parameters_sent(table, i, bytes);
            good = take_kernel(to, tsv_cell(table, i, name), tsv_cell(table, i, hash),
                               tsv_cell(table, i, blocks));
        } else if (strcmp(what, "copy_htod") == 0 || strcmp(what, "copy_shared") == 0)
            sent += strtod(tsv_cell(table, i, bytes), NULL);
        if (to->blocks > 100000)
            join(to);
    }
    join(to);
    for (size_t i = 0; i < to->blocks; i++) {
        struct gr_executed_block *b = &to->block[i];
        b->each = fmax(b->each, b->threads / (double)nn_conv_y_elems(shape));
        b->threads = 0;
    }
    to->channels = fmax(to->channels, shape->C);
    add_counted(to, technique, record, shape);
    const size_t tensors = nn_conv_x_elems(shape) + nn_conv_k_elems(shape) +
                           (host_tensors ? 0 : nn_conv_y_elems(shape));
    sent -= (double)sizeof(float) * (double)tensors;
    /* (a launch for each image may pass weights) */
    sent = fmax(0, sent) + fmax(0, passed - (double)shape->B * (double)sizeof(float) *
                                                (double)nn_conv_k_elems(shape));
    to->sent_bytes = sent > to->sent_bytes ? sent : to->sent_bytes;
    return good;
}

bool gr_executed_copy(struct gr_executed *to, const struct gr_executed *from)
{
    *to = *from;
    to->block = NULL;
    to->blocks = 0;
    while (to->blocks < from->blocks && append(to, from->block[to->blocks]))
        continue;
    return to->blocks == from->blocks;
}

void gr_executed_free(struct gr_executed *e)
{
    free(e->block);
    *e = (struct gr_executed){0};
}

const struct gr_executed_block *gr_executed_beyond(const struct gr_executed *run,
                                                   const struct gr_executed *proved)
{
    for (size_t i = 0; i < run->blocks; i++)
        if (!find(proved, run->block[i].code))
            return &run->block[i];
    return NULL;
}

const struct gr_executed_block *gr_executed_more(const struct gr_executed *run,
                                                 const struct gr_executed *proved)
{
    const double least = 0.05; /* right submissions have at most 1.1 times as many */
    const double times = 2 * fmax(1, run->channels / fmax(1, proved->channels));
    for (size_t i = 0; i < run->blocks; i++) {
        const struct gr_executed_block *b = &run->block[i], *p = find(proved, b->code);
        if (p && p->works && b->each > least && b->each > times * p->each)
            return b;
    }
    return NULL;
}
