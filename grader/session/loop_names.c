/* Reads a loop as text, without a compiler, after blanking comments and literals. Skips loops that
 * are not plain (for example, with a call in the condition). */
#include "grader/session/loop_names.h"

#include "base/files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4 << 20, MOST_NAMES = 4, NAME_CHARS = 40 };

struct span {
    const char *begin, *end;
};

struct names {
    char name[MOST_NAMES][NAME_CHARS];
    int n;
};

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* @return the position after the comment or literal at @p c; @p c if it is neither. */
static const char *behind_blank(const char *c)
{
    const char *end = c[0] == '/' && c[1] == '*' ? strstr(c + 2, "*/") : NULL;
    if (c[0] == '/' && c[1] == '/')
        return c + strcspn(c, "\n");
    if (c[0] == '/' && c[1] == '*')
        return end ? end + 2 : c + strlen(c);
    if (*c != '"' && *c != '\'')
        return c;
    for (end = c + 1; *end && *end != *c && *end != '\n'; end++)
        end += *end == '\\' && end[1];
    return end + (*end == *c);
}

void gr_blank_comments(char *c)
{
    while (*c) {
        const char *end = behind_blank(c);
        c += end == c;
        for (; c < end; c++)
            *c = *c == '\n' ? '\n' : ' ';
    }
}

static const char *skip_spaces(const char *c)
{
    return c + strspn(c, " \t\r\n");
}

/* @return the position after the bracket that closes the one at @p c, or NULL. */
static const char *behind_bracket(const char *c)
{
    int depth = 0;
    for (; *c; c++) {
        depth += strchr("([{", *c) != NULL;
        depth -= strchr(")]}", *c) != NULL;
        if (!depth)
            return c + 1;
    }
    return NULL;
}

/* @return the position after the next @p end outside brackets, or NULL. */
static const char *behind(const char *c, const char *limit, char end)
{
    while (c && c < limit && *c != end)
        c = strchr("([{", *c) ? behind_bracket(c) : c + 1;
    return c && c < limit ? c + 1 : NULL;
}

/* @return the position after the keyword of the loop that begins at @p c, or NULL. */
static const char *behind_keyword(const char *text, const char *c, bool *is_for)
{
    const bool starts = c == text || !in_name(c[-1]);
    const size_t n = starts && !strncmp(c, "for", 3)     ? 3
                     : starts && !strncmp(c, "while", 5) ? 5
                                                         : 0;
    *is_for = n == 3;
    return n && !in_name(c[n]) && *skip_spaces(c + n) == '(' ? c + n : NULL;
}

/* The body of a loop, given the end of its header. */
static struct span body_of(const char *head_end)
{
    const char *begin = skip_spaces(head_end), *end = begin + strlen(begin);
    const char *other = *begin == '{' ? behind_bracket(begin) : behind(begin, end, ';');
    return (struct span){begin, other ? other : end};
}

/* Collects the variables of an expression. @return false: it contains something else. */
static bool take_names(struct span in, struct names *to)
{
    static const char *const words[] = {"int", "unsigned", "size_t", "float", "true", "false"};
    for (const char *c = in.begin; c < in.end;) {
        size_t n = 0;
        while (c + n < in.end && in_name(c[n]))
            n++;
        if (!n) {
            if (strchr("[?;", *c))
                return false;
            c++;
            continue;
        }
        bool known = isdigit((unsigned char)*c);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            known = known || (strlen(words[i]) == n && !memcmp(words[i], c, n));
        for (int i = 0; i < to->n; i++)
            known = known || (strlen(to->name[i]) == n && !memcmp(to->name[i], c, n));
        if (*skip_spaces(c + n) == '(' || n >= NAME_CHARS || (!known && to->n == MOST_NAMES))
            return false;
        if (!known)
            snprintf(to->name[to->n++], NAME_CHARS, "%.*s", (int)n, c);
        c += n;
        while (c < in.end &&
               (*c == '.' || !strncmp(c, "->", 2))) { /* a member: the structure's name counts */
            c += *c == '.' ? 1 : 2;
            while (c < in.end && in_name(*c))
                c++;
        }
    }
    return to->n > 0;
}

/* Whether the text before or after a name changes the variable's value. */
static bool is_changed_at(const char *name, const char *begin, const char *behind_name)
{
    const char *next = skip_spaces(behind_name), *before = name;
    while (before > begin && isspace((unsigned char)before[-1]))
        before--;
    if (before - begin >= 2 && (!strncmp(before - 2, "++", 2) || !strncmp(before - 2, "--", 2)))
        return true;
    return !strncmp(next, "++", 2) || !strncmp(next, "--", 2) || !strncmp(next, "<<=", 3) ||
           !strncmp(next, ">>=", 3) || (next[0] == '=' && next[1] != '=') ||
           (next[0] && strchr("+-*/%&|^", next[0]) && next[1] == '=');
}

static bool is_changed(const char *name, struct span in)
{
    const size_t n = strlen(name);
    for (const char *c = in.begin; c + n <= in.end; c++)
        if (!memcmp(c, name, n) && (c == in.begin || !in_name(c[-1])) && !in_name(c[n]) &&
            is_changed_at(c, in.begin, c + n))
            return true;
    return false;
}

/* Writes "q", "q and K", or "a, b and c". */
static void join(char *to, size_t room, const struct names *names)
{
    size_t used = 0;
    to[0] = '\0';
    for (int i = 0; i < names->n && used < room; i++)
        used += (size_t)snprintf(to + used, room - used, "%s%s",
                                 !i                  ? ""
                                 : i == names->n - 1 ? " and "
                                                     : ", ",
                                 names->name[i]);
}

static struct span trimmed(struct span s)
{
    while (s.begin < s.end && isspace((unsigned char)*s.begin))
        s.begin++;
    while (s.end > s.begin && isspace((unsigned char)s.end[-1]))
        s.end--;
    return s;
}

/* A loop in the source. */
struct loop {
    const char *begin;
    struct span condition, step, body;
    struct names names, changed;
};

/* Reads the loop that begins at @p c. @return false: there is no loop, or its condition is not
 * plain. */
static bool read_loop(const char *text, const char *c, struct loop *l)
{
    bool is_for;
    const char *keyword = behind_keyword(text, c, &is_for);
    const char *open = keyword ? skip_spaces(keyword) : NULL;
    const char *close = open ? behind_bracket(open) : NULL;
    if (!close || (!is_for && *skip_spaces(close) == ';')) /* do ... while (...); */
        return false;
    *l = (struct loop){
        c, {open + 1, close - 1}, {close - 1, close - 1}, body_of(close), {.n = 0}, {.n = 0}};
    if (is_for) {
        const char *first = behind(open + 1, close, ';');
        const char *second = first ? behind(first, close, ';') : NULL;
        if (!second)
            return false;
        l->condition = (struct span){first, second - 1};
        l->step.begin = second;
    }
    l->condition = trimmed(l->condition);
    l->step = trimmed(l->step);
    if (l->condition.end - l->condition.begin > 80 || l->step.end - l->step.begin > 80 ||
        !take_names(l->condition, &l->names))
        return false;
    for (int i = 0; i < l->names.n; i++)
        if (is_changed(l->names.name[i], l->step) || is_changed(l->names.name[i], l->body) ||
            is_changed(l->names.name[i], l->condition))
            memcpy(l->changed.name[l->changed.n++], l->names.name[i], NAME_CHARS);
    return true;
}

/* Finds the last loop that begins in a line. If that loop changes variables of its condition, finds
 * the next enclosing loop that changes none of its condition's variables, if there is one. */
static bool find_loop(const char *text, struct span line, struct loop *found)
{
    bool is_found = false;
    for (const char *c = line.end; c-- > text;) {
        struct loop l;
        if ((c < line.begin && !is_found) || !read_loop(text, c, &l) ||
            (is_found && l.body.end <= found->begin))
            continue;
        if (is_found && l.changed.n)
            continue;
        *found = l;
        is_found = true;
        if (!l.changed.n)
            break;
    }
    return is_found;
}

static void describe(const struct loop *l, char *to, size_t room)
{
    static const char *const none[] = {"", "does not change it", "changes neither"};
    char all[MOST_NAMES * NAME_CHARS], some[MOST_NAMES * NAME_CHARS];
    join(all, sizeof all, &l->names);
    join(some, sizeof some, &l->changed);
    const int used = snprintf(to, room, "its condition %.*s reads %s, and the loop %s%s",
                              (int)(l->condition.end - l->condition.begin), l->condition.begin, all,
                              l->changed.n     ? "changes "
                              : l->names.n < 3 ? none[l->names.n]
                                               : "changes none of them",
                              some);
    if (!l->changed.n && l->step.begin < l->step.end && (size_t)used < room)
        snprintf(to + used, room - (size_t)used, " (its step is %.*s)",
                 (int)(l->step.end - l->step.begin), l->step.begin);
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    while (text < at)
        line += *text++ == '\n';
    return line;
}

bool gr_loop_names(const char *file, int *line, char *to, size_t room)
{
    char *text;
    size_t bytes;
    struct loop loop;
    to[0] = '\0';
    if (*line < 1 || file_read(file, MOST_BYTES, &text, &bytes, NULL))
        return false;
    gr_blank_comments(text);
    struct span at = {text, text};
    for (int i = 1; i < *line && *at.begin; i++)
        at.begin += strcspn(at.begin, "\n") + (strchr(at.begin, '\n') != NULL);
    at.end = at.begin + strcspn(at.begin, "\n");
    const bool found = find_loop(text, at, &loop);
    if (found) {
        describe(&loop, to, room);
        *line = line_of(text, loop.begin);
    }
    free(text);
    return found;
}
