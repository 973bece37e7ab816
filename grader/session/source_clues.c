#include "grader/session/source_clues.h"

#include "base/files.h"
#include "base/shown_path.h"
#include "grader/session/loop_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

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

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* ---- cases of a switch ------------------------------------------------------------------------- */

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

/* ---- arguments of a launch -------------------------------------------------------------------- */

enum { ARGUMENTS = 16 };

struct argument {
    const char *begin, *end;
};

/* Splits the list after an opening bracket at its commas. @return the number of parts; 0: too many */
static int split_list(const char *open, struct argument to[ARGUMENTS])
{
    int depth = 0, n = 0;
    const char *begin = open + 1;
    for (const char *c = open; *c; c++) {
        depth += strchr("([{", *c) != NULL;
        depth -= strchr(")]}", *c) != NULL;
        if (depth > 1 || (depth && *c != ','))
            continue;
        if (n == ARGUMENTS)
            return 0;
        to[n++] = (struct argument){begin, c};
        begin = c + 1;
        if (!depth)
            return n;
    }
    return 0;
}

/* @return the letter of a size or tensor (B, M, C, H, W, K, x, k or y) that ends an argument or
 * parameter; '\0' if it is another expression. @param is_name  it is a parameter with its type */
static char letter_of(struct argument a, bool is_name)
{
    while (a.end > a.begin && strchr(" \t\r\n\\", a.end[-1]))
        a.end--;
    while (a.begin < a.end && strchr(" \t\r\n\\", *a.begin))
        a.begin++;
    if (a.begin == a.end || !strchr("BMCHWKxky", a.end[-1]))
        return '\0';
    const char *before = a.end - 1;
    if (is_name)
        return before > a.begin && !in_word(before[-1]) ? *before : '\0';
    if (before > a.begin && before[-1] == '.')
        before--;
    else if (before - a.begin > 1 && before[-1] == '>' && before[-2] == '-')
        before -= 2;
    for (const char *c = a.begin; c < before; c++)
        if (!in_word(*c))
            return '\0';
    return before == a.begin || before < a.end - 1 ? a.end[-1] : '\0';
}

/* @return the bracket that opens the parameters of the only kernel with a name, or NULL. */
static const char *parameters_of(const char *text, const char *name, size_t length)
{
    const char *const end = text + strlen(text), *found = NULL;
    for (const char *c = text; (c = word_in(c, end, "__global__")) != NULL; c++) {
        const char *open = strchr(c, '('), *last = open;
        if (!open)
            break;
        if (word_in(c, open, "__launch_bounds__") && !(last = open = strchr(open + 1, '(')))
            break;
        while (last > c && isspace((unsigned char)last[-1]))
            last--;
        if ((size_t)(last - c) <= length || strncmp(last - length, name, length) != 0 ||
            in_word(last[-(int)length - 1]))
            continue;
        if (found)
            return NULL;
        found = open;
    }
    return found;
}

/* @return the bracket that opens the arguments of the launch at <<<; its kernel in @p name. */
static const char *arguments_of(const char *text, const char *launch, struct argument *name)
{
    const char *open = strstr(launch, ">>>"), *c = launch;
    int depth = 0;
    while (c > text && isspace((unsigned char)c[-1]))
        c--;
    for (; c > text && (depth || c[-1] == '>'); c--)
        depth += (c[-1] == '>') - (c[-1] == '<');
    name->end = c;
    while (c > text && in_word(c[-1]))
        c--;
    name->begin = c;
    open = open ? open + 3 + strspn(open + 3, " \t\r\n\\") : NULL;
    return open && *open == '(' && name->end > name->begin ? open : NULL;
}

bool gr_clue_arguments(char *text, const char *shown, char *to, size_t room)
{
    to[0] = '\0';
    gr_blank_comments(text);
    for (const char *c = text; !to[0] && (c = strstr(c, "<<<")) != NULL; c += 3) {
        struct argument name, given[ARGUMENTS], wanted[ARGUMENTS];
        const char *arguments = arguments_of(text, c, &name);
        const size_t length = (size_t)(name.end - name.begin);
        const char *parameters = arguments ? parameters_of(text, name.begin, length) : NULL;
        const int n = parameters ? split_list(arguments, given) : 0;
        if (!n || split_list(parameters, wanted) != n)
            continue;
        for (int i = 0; i < n && !to[0]; i++)
            for (int j = i + 1; j < n && !to[0]; j++) {
                const char a = letter_of(wanted[i], true), b = letter_of(wanted[j], true);
                if (a && b && a != b && letter_of(given[i], false) == b &&
                    letter_of(given[j], false) == a)
                    snprintf(
                        to, room,
                        "the launch of %.*s at %s:%d passes %c as its parameter %c, and %c as %c",
                        (int)length, name.begin, shown, line_of(text, c), b, a, a, b);
            }
    }
    return to[0] != '\0';
}

/* ---- powers ----------------------------------------------------------------------------------- */

bool gr_clue_power(char *text, const char *shown, char *to, size_t room)
{
    to[0] = '\0';
    gr_blank_comments(text);
    for (const char *c = text; !to[0] && (c = strchr(c, '^')) != NULL; c++) {
        const char *left = c, *right = c + 1 + strspn(c + 1, " ");
        while (left > text && left[-1] == ' ')
            left--;
        if (left > text && left[-1] == 'K' && (left == text + 1 || !in_word(left[-2])) &&
            *right == '2' && !in_word(right[1]) && right[1] != '.')
            snprintf(to, room, "K^2 at %s:%d is an exclusive or: C has no operator for powers",
                     shown, line_of(text, c));
    }
    return to[0] != '\0';
}

/* ---- a file ----------------------------------------------------------------------------------- */

/* @return the file's text, or NULL. */
static char *text_of(const char *source)
{
    enum { MOST_BYTES = 4 << 20 };
    char *text;
    size_t bytes;
    struct st_error ignored;
    const bool can = source && source[0] && !file_read(source, MOST_BYTES, &text, &bytes, &ignored);
    return can ? text : NULL;
}

/* @return whether the arguments of a call, or the configuration of a launch, follow a name. */
static bool is_called(const char *behind, bool is_kernel)
{
    behind += strspn(behind, " \t\r\n");
    if (*behind == '<' && strncmp(behind, "<<<", 3) != 0) { /* arguments of a template */
        behind += strcspn(behind, ">;{");
        behind += *behind == '>';
        behind += strspn(behind, " \t\r\n");
    }
    return is_kernel ? strncmp(behind, "<<<", 3) == 0 : *behind == '(';
}

bool gr_clue_place(char *text, const char *shown, const char *name, bool is_kernel, char *to,
                   size_t room)
{
    enum { MOST = 4 };
    int line[MOST + 1], n = 0;
    const char *const behind = text + strlen(text);
    to[0] = '\0';
    gr_blank_comments(text);
    for (const char *c = text; n <= MOST && (c = word_in(c, behind, name)) != NULL; c++) {
        const int here = line_of(text, c);
        if (is_called(c + strlen(name), is_kernel) && (!n || line[n - 1] != here))
            line[n++] = here;
    }
    if (!n || n > MOST)
        return false;
    size_t used = (size_t)snprintf(to, room, "%s%s:%d", n == 1 ? " at " : " (", shown, line[0]);
    for (int i = 1; i < n && used < room; i++)
        used += (size_t)snprintf(to + used, room - used, "%s%d%s", i + 1 < n ? ", " : " or ",
                                 line[i], i + 1 < n ? "" : ")");
    return true;
}

bool gr_clue_place_in(const char *source, const char *name, bool is_kernel, char *to, size_t room)
{
    char *const text = text_of(source);
    to[0] = '\0';
    const bool found =
        text && gr_clue_place(text, path_shown(source, source), name, is_kernel, to, room);
    free(text);
    return found;
}

const char *gr_clue_source(const char *source, bool of_switch, char *to, size_t room)
{
    const char *hint = NULL;
    to[0] = '\0';
    char *const text = text_of(source);
    if (!text)
        return NULL;
    const char *const shown = path_shown(source, source);
    if (gr_clue_arguments(text, shown, to, room))
        hint = "pass the arguments of a launch in the order of the kernel's parameters";
    else if (gr_clue_power(text, shown, to, room))
        hint = "write K * K instead of K^2";
    else if (of_switch && gr_clue_switch(text, shown, to, room))
        hint =
            "end each case with break, and let it call the kernel that is compiled for its number";
    free(text);
    return hint;
}
