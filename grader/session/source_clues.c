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

/* @return the next case or default, or NULL. */
static const char *next_case(const char *text, const char *end)
{
    const char *const a = word_in(text, end, "case"), *const b = word_in(text, end, "default");
    return !a || (b && b < a) ? b : a;
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

enum { DEFAULT = -1, NONE = -1 };

/* A case of a switch: its label, and the instance of a template that its code calls. */
struct labelled {
    const char *at;
    long number, instance;
    char name[64];
};

/* Whether a case calls the wrong instance: others call their own one, or it and another case have
 * exchanged theirs. (A default may call an instance for any number, 0.) */
static bool is_wrong_instance(const struct labelled *c, const struct labelled *all, size_t n)
{
    if (c->instance == NONE || c->instance == c->number ||
        (c->number == DEFAULT && c->instance == 0))
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, c->name) == 0 && all[i].number != DEFAULT &&
            (all[i].instance == all[i].number ||
             (all[i].number == c->instance && all[i].instance == c->number)))
            return true;
    return false;
}

bool gr_clue_switch(char *text, const char *shown, char *to, size_t room)
{
    enum { CASES = 64 };
    struct labelled all[CASES];
    size_t n = 0;
    const char *const behind = text + strlen(text);
    bool is_last = false;
    to[0] = '\0';
    gr_blank_comments(text);
    const char *const first = word_in(text, behind, "switch");
    const bool one_switch = first && !word_in(first + 1, behind, "switch");
    for (const char *c = text; (c = next_case(c, behind)) != NULL && n < CASES;) {
        struct labelled *now = &all[n];
        const bool is_default = *c == 'd';
        const char *label = c + strlen(is_default ? "default" : "case");
        const char *colon = strchr(label, ':');
        const char *body = colon ? colon + 1 : behind;
        const char *end = behind_case(body, &is_last);
        char *number_end = NULL;
        if (!to[0] && !is_default && !is_last && memchr(body, ';', (size_t)(end - body)) &&
            !ends_itself(body, end))
            snprintf(to, room, "the case at %s:%d has no break, so the next case runs, too", shown,
                     line_of(text, c));
        now->at = c;
        now->number = is_default ? DEFAULT : strtol(label, &number_end, 10);
        now->instance = instance_in(body, end, now->name);
        n += is_default ? one_switch && label + strspn(label, " \t") == colon : number_end != label;
        c = is_default ? label : body;
    }
    for (size_t i = 0; i < n && !to[0]; i++) {
        char label[32] = "the default case";
        if (all[i].number != DEFAULT)
            snprintf(label, sizeof label, "case %ld", all[i].number);
        if (is_wrong_instance(&all[i], all, n))
            snprintf(to, room, "%s at %s:%d calls %s<%ld>, which is compiled for %ld only", label,
                     shown, line_of(text, all[i].at), all[i].name, all[i].instance,
                     all[i].instance);
    }
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

/* ---- warnings ---------------------------------------------------------------------------------- */

/* A line "conv.c:22:47: warning: text [-Wflag]". */
struct warning {
    int line, length; /* of the text */
    const char *text, *behind;
};

static bool read_message(const char *line, const char *kind, struct warning *to)
{
    const char *const end = line + strcspn(line, "\n"), *const mark = strstr(line, kind);
    const char *at = mark;
    if (!mark || mark > end)
        return false;
    for (int colons = 0; at > line && colons < 2; at--) /* before the column, before the line */
        colons += at[-1] == ':';
    to->line = atoi(at + 1);
    to->text = mark + strlen(kind);
    to->length = (int)(end - to->text);
    to->behind = *end ? end + 1 : end;
    const char *const flag = strstr(to->text, " [-W");
    if (flag && flag < end)
        to->length = (int)(flag - to->text);
    return true;
}

/* Whether the source line below a message has the name that the message quotes. (gcc may report the
 * last line of a function, too.) */
static bool shows_name(const struct warning *w)
{
    char name[64];
    const char *quote = memchr(w->text, '\'', (size_t)w->length);
    const char *open = strstr(w->text, "\u2018");
    open = open && open < w->text + w->length ? open + strlen("\u2018") : quote ? quote + 1 : NULL;
    if (!open)
        return true;
    snprintf(name, sizeof name, "%.*s",
             (int)strspn(open, "abcdefghijklmnopqrstuvwxyz_"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
             open);
    return word_in(w->behind, w->behind + strcspn(w->behind, "\n"), name) != NULL;
}

const char *gr_clue_compiler(const char *said, const char *source, char *to, size_t room)
{
    static const struct {
        const char *flag, *hint;
    } grave[] = {
        {"[-Wuse-after-free", "free memory once, after its last use"},
        {"[-Wreturn-local-addr]",
         "a local array ends with its function: let the caller pass an array, or use malloc()"},
        {"[-Wdangling-pointer",
         "a local array ends with its function or block: declare it where all its uses can see it"},
        {"[-Wfree-nonheap-object]", "pass only pointers from malloc() to free()"},
        {"[-Wimplicit-function-declaration]",
         "include the header that declares the function: stdlib.h for malloc(), string.h for memcpy()"},
        {"[-Wincompatible-pointer-types]", "give each pointer the type of what it points to"},
        {"[-Wint-conversion]", "which of both is a pointer, and which one is a number?"},
        {"[-Warray-bounds", "how many elements does the array have?"},
        {"[-Wstringop-overflow", "how many bytes does the memory have, and how many are written?"},
        {"[-Wmisleading-indentation]",
         "put braces { } around all statements that belong to the loop or to the if"},
        {"[-Wuninitialized]", "set the variable before it is read: float sum = 0;"},
        {"[-Wmaybe-uninitialized]", "set the variable before it is read: float sum = 0;"},
    };
    to[0] = '\0';
    for (size_t k = 0; k < sizeof grave / sizeof *grave; k++) {
        struct warning found = {0}, now, note;
        for (const char *c = said; *c; c += strcspn(c, "\n"), c += *c == '\n') {
            const char *const flag = strstr(c, grave[k].flag);
            if (!flag || flag > c + strcspn(c, "\n") || !read_message(c, ": warning: ", &now))
                continue;
            if (!found.text || (shows_name(&now) && !shows_name(&found)))
                found = now;
        }
        if (!found.text)
            continue;
        const size_t used =
            (size_t)snprintf(to, room, "the compiler warns: %s:%d: %.*s",
                             path_shown(source, source), found.line, found.length, found.text);
        const char *c = found.behind;
        while (*c && !read_message(c, ": warning: ", &now) && !read_message(c, ": note: ", &note)) {
            c += strcspn(c, "\n");
            c += *c == '\n';
        }
        if (*c && !read_message(c, ": warning: ", &now) && used < room)
            snprintf(to + used, room - used, " (line %d: %.*s)", note.line, note.length, note.text);
        return grave[k].hint;
    }
    return NULL;
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
