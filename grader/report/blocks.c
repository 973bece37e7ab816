#include "exercise/exercise.h"
#include "grader/report/block.h"
#include "grader/report/text_out.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *kind;
    bool (*fill)(const struct gr_block *);
} blocks[] = {
#define BLOCK(name) {#name, gr_block_##name},
#include "grader/report/blocks.def"
#undef BLOCK
};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

const char *gr_block_known(const char *kind)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (strcmp(kind, blocks[i].kind) == 0)
            return blocks[i].kind;
    return NULL;
}

static bool fill(const struct gr_block *b)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (strcmp(b->piece->fill, blocks[i].kind) == 0)
            return blocks[i].fill(b);
    return false;
}

/* @return a malloc'd text: the block's heading, followed by @p text, which is freed. */
static char *with_heading(const struct gr_block *b, char *text)
{
    const char *heading = gr_attribute(b->piece, "heading", NULL);
    char *both;
    if (!heading || !*text)
        return text;
    if (asprintf(&both, "%s\n\n%s", heading, text) < 0)
        both = NULL;
    free(text);
    return both;
}

char *gr_block_fill(const struct gr_block *block, bool *stays)
{
    struct text_out t;
    struct gr_block b = *block;
    if (!text_out_open(&t))
        return NULL;
    b.out = t.out;
    const bool shown = fill(&b);
    if (stays) /* names on the command line are given once */
        *stays = !shown && strcmp(b.piece->fill, "team") == 0;
    if (!text_out_close(&t))
        return NULL;
    if (b.grading && b.grading->result)
        t.text = exercise_say_page(exercise_of(b.grading->result->milestone), t.text);
    return with_heading(&b, t.text);
}
