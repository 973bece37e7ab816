#include "grader/place/gpus.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct gr_gpus *gpus, const char *id, size_t length)
{
    if (gpus->n < GR_MAX_GPUS && length > 0 && length < GR_GPU_CHARS)
        snprintf(gpus->id[gpus->n++], GR_GPU_CHARS, "%.*s", (int)length, id);
}

/* GPU 0: NVIDIA H200 (UUID: GPU-5b1c...)
 *   MIG 1g.18gb Device 0: (UUID: MIG-c6d4...) */
static void read_listing(struct gr_gpus *gpus, const char *listing)
{
    bool whole = false; /* the last line is a GPU for which no parts have been listed */
    for (const char *line = listing; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        const char *const id = strstr(line, "(UUID: ");
        if (!id || id > line + length)
            continue;
        const bool part = strncmp(id + 7, "MIG-", 4) == 0;
        if (part && whole)
            gpus->n--;
        whole = !part;
        add(gpus, id + 7, strcspn(id + 7, ")\n"));
    }
}

/* Whether a word is a GPU's name, not a number. As in CUDA, the beginning of a name is enough. */
static bool is_name(const char *word)
{
    return strncmp(word, "GPU-", 4) == 0 || strncmp(word, "MIG-", 4) == 0;
}

void gr_gpus_find(struct gr_gpus *gpus, const char *listing, const char *visible)
{
    struct gr_gpus all = {0};
    if (listing)
        read_listing(&all, listing);
    *gpus = all;
    if (!visible)
        return;
    gpus->n = 0;
    for (const char *word = visible; *word; word += strcspn(word, ","), word += *word == ',') {
        char *end;
        word += strspn(word, " ");
        const size_t length = strcspn(word, ", ");
        if (is_name(word)) {
            add(gpus, word, length);
            continue;
        }
        const unsigned long number = strtoul(word, &end, 10);
        if (!isdigit((unsigned char)*word) || end != word + length || (listing && number >= all.n))
            return;
        if (listing)
            add(gpus, all.id[number], strlen(all.id[number]));
        else
            add(gpus, word, length);
    }
}
