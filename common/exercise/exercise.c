#include "exercise/exercises.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct exercise *const all[] = {&exercise_convolution, &exercise_sgemm};
enum { EXERCISES = sizeof all / sizeof *all };

/* Exercises that belong to a single milestone. */
static const struct exercise *const own[] = {&exercise_streams};
enum { OWN = sizeof own / sizeof *own };

const struct exercise *exercise_of(const char *text)
{
    for (size_t i = 0; text && i < OWN; i++)
        if (strcmp(text, own[i]->milestone) == 0 || strcmp(text, own[i]->name) == 0)
            return own[i];
    for (size_t i = 0; text && i < EXERCISES; i++)
        if (text[0] == all[i]->letter || strcmp(text, all[i]->name) == 0)
            return all[i];
    return all[0];
}

const struct exercise *exercise_at(size_t i)
{
    return i < EXERCISES ? all[i] : NULL;
}

char *exercise_size(const struct exercise *exercise, size_t size, char to[EXERCISE_TEXT])
{
    const struct conv_shape images = {.B = (int)size};
    const struct conv_shape shape = exercise->square ? exercise->square((int)size) : images;
    exercise->describe(to, &shape, EXERCISE_SIZE);
    return to;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The phrase at the start of a text, if it consists of whole words. @param before  the preceding
 * character */
static const struct exercise_word *word_at(const struct exercise *exercise, const char *text,
                                           char before)
{
    if (is_letter(before) || before == '-')
        return NULL;
    for (const struct exercise_word *w = exercise->words; w->of; w++) {
        const size_t n = strlen(w->of);
        const bool is_member = before == '.' && n == 1; /* gridDim.x */
        if (strncmp(text, w->of, n) == 0 && !is_letter(text[n]) && !is_member)
            return w;
    }
    return NULL;
}

void exercise_say(const struct exercise *exercise, char *text, size_t room)
{
    char said[4096];
    size_t used = 0;
    if (!exercise->words)
        return;
    for (const char *at = text; *at && used + 1 < sizeof said;) {
        const struct exercise_word *w = word_at(exercise, at, at == text ? ' ' : at[-1]);
        if (!w)
            said[used++] = *at++;
        else {
            used += (size_t)snprintf(said + used, sizeof said - used, "%s", w->to);
            at += strlen(w->of);
        }
    }
    said[used < sizeof said ? used : sizeof said - 1] = '\0';
    snprintf(text, room, "%s", said);
}

char *exercise_say_page(const struct exercise *exercise, char *text)
{
    char before = ' ', *said = NULL;
    size_t bytes;
    FILE *out = exercise->words ? open_memstream(&said, &bytes) : NULL;
    if (!out)
        return text;
    for (const char *at = text; *at;) {
        const struct exercise_word *w = word_at(exercise, at, before);
        const size_t from = w ? strlen(w->of) : 1;
        if (from > 1)
            fputs(w->to, out);
        else
            putc(*at, out);
        before = at[from - 1];
        at += from;
    }
    if (fclose(out)) {
        free(said);
        return text;
    }
    free(text);
    return said;
}
