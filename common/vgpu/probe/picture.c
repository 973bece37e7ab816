#include "vgpu/probe/picture.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, PATTERN_CHARS = 800 };

/* Texts, numbered in the order of their first use. */
struct known {
    struct known *next;
    uint32_t number;
    char text[];
};

/* A growing JSON array, with its texts in a hash table. */
struct list {
    FILE *out;
    char *text;
    size_t bytes;
    uint32_t n;
    struct known *bucket[BUCKETS];
};

struct picture {
    struct list places, patterns, steps, values;
    uint64_t instructions, recorded;
    bool full, open;                         /* open: there is a step that may still grow */
    uint32_t warp, place, count, accesses_n; /* of the open step */
    char place_text[64];
    char *accesses; /* the open step's, as ",pattern,address..." */
    size_t accesses_bytes;
    FILE *accesses_out;
};

/* ---- lists ------------------------------------------------------------------------------------ */

static bool list_open(struct list *l)
{
    l->out = open_memstream(&l->text, &l->bytes);
    return l->out != NULL;
}

static void list_close(struct list *l)
{
    if (l->out)
        fclose(l->out);
    free(l->text);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct known *k = l->bucket[i], *next; k; k = next) {
            next = k->next;
            free(k);
        }
}

static void list_add(struct list *l, const char *text)
{
    fprintf(l->out, "%s%s", l->n++ ? "," : "", text);
}

/* @return the index of a text in the list; adds the text if it is new. */
static uint32_t list_number(struct list *l, const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *p = text; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    struct known **bucket = &l->bucket[hash % BUCKETS];
    for (const struct known *k = *bucket; k; k = k->next)
        if (strcmp(k->text, text) == 0)
            return k->number;
    struct known *k = malloc(sizeof *k + strlen(text) + 1);
    const uint32_t number = l->n;
    list_add(l, text);
    if (k) {
        strcpy(k->text, text);
        k->number = number;
        k->next = *bucket;
        *bucket = k;
    }
    return number;
}

/* ---- recording -------------------------------------------------------------------------------- */

struct picture *picture_new(void)
{
    struct picture *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->accesses_out = open_memstream(&p->accesses, &p->accesses_bytes);
    const bool places = list_open(&p->places), patterns = list_open(&p->patterns),
               steps = list_open(&p->steps), values = list_open(&p->values);
    if (places && patterns && steps && values && p->accesses_out)
        return p;
    picture_free(p);
    return NULL;
}

void picture_free(struct picture *p)
{
    if (!p)
        return;
    list_close(&p->places);
    list_close(&p->patterns);
    list_close(&p->steps);
    list_close(&p->values);
    if (p->accesses_out)
        fclose(p->accesses_out);
    free(p->accesses);
    free(p);
}

static void end_step(struct picture *p)
{
    char step[64];
    if (!p->open)
        return;
    p->open = false;
    snprintf(step, sizeof step, "[%u,%u,%u", p->warp, p->place, p->count);
    fflush(p->accesses_out);
    list_add(&p->steps, step);
    fprintf(p->steps.out, "%.*s]", (int)p->accesses_bytes, p->accesses);
    rewind(p->accesses_out);
    fflush(p->accesses_out);
    p->full =
        ftell(p->places.out) + ftell(p->patterns.out) + ftell(p->steps.out) + ftell(p->values.out) >
        PICTURE_BYTES;
}

bool picture_is_full(const struct picture *p)
{
    return p->full;
}

void picture_instruction(struct picture *p, uint32_t warp, int file, int line, uint32_t lanes)
{
    char place[64];
    p->instructions++;
    if (p->full)
        return;
    snprintf(place, sizeof place, "[%d,%d,%u]", file, line, lanes);
    if (!p->open || p->warp != warp || p->accesses_n >= PICTURE_STEP_ACCESSES ||
        strcmp(place, p->place_text) != 0) {
        end_step(p);
        if (p->full)
            return;
        strcpy(p->place_text, place);
        p->open = true;
        p->warp = warp;
        p->place = list_number(&p->places, place);
        p->count = p->accesses_n = 0;
    }
    p->count++;
    p->recorded++;
}

void picture_access(struct picture *p, const struct picture_access *a)
{
    char text[PATTERN_CHARS];
    if (p->full)
        return;
    p->accesses_n++;
    const uint64_t first = a->mask ? a->address[__builtin_ctz(a->mask)] : 0;
    size_t n =
        (size_t)snprintf(text, sizeof text, "\"%c%u%c", (char)a->kind, a->bytes, (char)a->space);
    for (int lane = 0; a->mask && lane < PICTURE_LANES; lane++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", lane ? "," : "");
        if (a->mask >> lane & 1)
            n += (size_t)snprintf(text + n, sizeof text - n, "%lld",
                                  (long long)(a->address[lane] - first));
    }
    snprintf(text + n, sizeof text - n, "\"");
    fprintf(p->accesses_out, ",%u,%llu", list_number(&p->patterns, text),
            (unsigned long long)first);
}

void picture_values(struct picture *p, const uint32_t *words, size_t n)
{
    if (p->full)
        return;
    list_add(&p->values, "\"");
    for (size_t i = 0; i < n; i++)
        fprintf(p->values.out, "%08x", words[i]);
    fputs("\"", p->values.out);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void write_list(FILE *out, const char *name, const struct list *l)
{
    fflush(l->out);
    fprintf(out, ",\"%s\":[%.*s]", name, (int)l->bytes, l->text);
}

void picture_write(FILE *out, const struct picture *p)
{
    end_step((struct picture *)(uintptr_t)p); /* ends the open step, and changes nothing else */
    fprintf(out, "\"instructions\":%llu,\"recorded\":%llu", (unsigned long long)p->instructions,
            (unsigned long long)p->recorded);
    write_list(out, "places", &p->places);
    write_list(out, "patterns", &p->patterns);
    write_list(out, "steps", &p->steps);
    write_list(out, "values", &p->values);
}
