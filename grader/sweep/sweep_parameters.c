#include "grader/sweep/sweep.h"

#include "base/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ----------------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_identifier(const char *text, size_t length)
{
    if (!length || length >= SWEEP_TEXT || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_name_char(text[i]))
            return false;
    return true;
}

static bool is_value(const char *text, size_t length)
{
    if (!length || length >= SWEEP_TEXT)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_name_char(text[i]) && !strchr(".+-", text[i]))
            return false;
    return true;
}

static enum st_code bad(struct st_error *err, const char *what, const char *expected,
                        const char *got, int length)
{
    st_fail(err, ST_USAGE, "%s", what);
    st_detail(err, ST_EXPECTED, "%s", expected);
    return st_detail(err, ST_GOT, "'%.*s'", length, got);
}

static enum st_code add_value(struct sweep_parameter *p, const char *value, size_t length,
                              struct st_error *err)
{
    if (!is_value(value, length))
        return bad(err, "a value of a parameter is not allowed for -D",
                   "1 to 32 letters, digits, '_', '.', '+' and '-'", value, (int)length);
    for (size_t i = 0; i < p->values; i++)
        if (strlen(p->value[i]) == length && strncmp(p->value[i], value, length) == 0)
            return bad(err, "a value appears twice", "different values", value, (int)length);
    if (p->values == SWEEP_MAX_VALUES) {
        st_fail(err, ST_USAGE, "too many values of %s", p->name);
        return st_detail(err, ST_EXPECTED, "at most %d", SWEEP_MAX_VALUES);
    }
    snprintf(p->value[p->values++], SWEEP_TEXT, "%.*s", (int)length, value);
    return ST_OK;
}

enum st_code sweep_parameter_parse(struct sweep *sweep, const char *text, struct st_error *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    if (!equals || !is_identifier(text, length))
        return bad(err, "a parameter has a name and values",
                   "NAME=V1,V2,..., for example TILE=8,16", text, 60);
    for (size_t i = 0; i < sweep->parameters; i++)
        if (strlen(sweep->parameter[i].name) == length &&
            strncmp(sweep->parameter[i].name, text, length) == 0)
            return bad(err, "a parameter appears twice", "each once, with all its values", text,
                       (int)length);
    if (sweep->parameters == SWEEP_MAX_PARAMETERS) {
        st_fail(err, ST_USAGE, "too many parameters");
        return st_detail(err, ST_EXPECTED, "at most %d", SWEEP_MAX_PARAMETERS);
    }
    struct sweep_parameter *p = &sweep->parameter[sweep->parameters++];
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%.*s", (int)length, text);
    for (const char *value = equals + 1;; value++) {
        size_t n = strcspn(value, ",");
        enum st_code code = add_value(p, value, n, err);
        if (code)
            return code;
        value += n;
        if (!*value)
            return ST_OK;
    }
}

enum st_code sweep_points_make(struct sweep *sweep, struct st_error *err)
{
    size_t points = 1;
    for (size_t i = 0; i < sweep->parameters; i++)
        points *= sweep->parameter[i].values;
    if (points > SWEEP_MAX_POINTS) {
        st_fail(err, ST_USAGE, "too many combinations of values");
        st_detail(err, ST_EXPECTED, "at most %d", SWEEP_MAX_POINTS);
        st_detail(err, ST_GOT, "%zu", points);
        return st_detail(err, ST_HINT, "use fewer values, or one parameter at a time");
    }
    sweep->point = calloc(points, sizeof *sweep->point);
    if (!sweep->point)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a sweep");
    sweep->points = points;
    for (size_t i = 0; i < points; i++) {
        size_t rest = i;
        for (size_t p = sweep->parameters; p-- > 0;) {
            sweep->point[i].value[p] = rest % sweep->parameter[p].values;
            rest /= sweep->parameter[p].values;
        }
        sweep->point[i].session = GR_SESSION_CLOSED;
        sweep->point[i].build = GR_SOURCE_BUILD_NONE;
    }
    return ST_OK;
}

const char *sweep_values(char to[160], const struct sweep *sweep, const struct sweep_point *point)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < sweep->parameters; i++)
        used += (size_t)snprintf(to + used, 160 - used, "%s%s", i ? ", " : "",
                                 sweep->parameter[i].value[point->value[i]]);
    return to;
}

const char *sweep_names(char to[160], const struct sweep *sweep, const char *between)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < sweep->parameters; i++)
        used += (size_t)snprintf(to + used, 160 - used, "%s%s", i ? between : "",
                                 sweep->parameter[i].name);
    return to;
}

/* ---- the source ----------------------------------------------------------------------------- */

/* Blanks comments and quoted text, in place; lines keep their numbers. */
static void blank_comments(char *text)
{
    char *p = text;
    while (*p) {
        char *end = p;
        if (p[0] == '/' && p[1] == '/')
            end = p + strcspn(p, "\n");
        else if (p[0] == '/' && p[1] == '*')
            end = strstr(p + 2, "*/") ? strstr(p + 2, "*/") + 2 : p + strlen(p);
        else if (*p == '"' || *p == '\'')
            for (end = p + 1; *end && *end != '\n' && end[-1] != 0;) {
                if (*end == *p) {
                    end++;
                    break;
                }
                end += *end == '\\' && end[1] ? 2 : 1;
            }
        if (end == p) {
            p++;
            continue;
        }
        for (; p < end; p++)
            *p = *p == '\n' ? '\n' : ' ';
    }
}

/* Whether a text contains a whole word before @p end. */
static bool has_word(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) && at < end; at += length)
        if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[length]))
            return true;
    return false;
}

/* The rest of a line "# directive rest"; NULL: the line is not one. */
static const char *directive(const char *line, const char *name)
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, name, length) != 0 || is_name_char(line[length]))
        return NULL;
    return line + length + strspn(line + length, " \t");
}

/* Whether a word follows an #ifndef, or is in a defined(...), in any line before @p line. */
static bool is_guarded(const char *text, const char *line, const char *word)
{
    for (const char *at = text; at < line; at += strcspn(at, "\n") + 1) {
        const char *rest = directive(at, "ifndef");
        const char *condition = directive(at, "if");
        const char *end = at + strcspn(at, "\n");
        if ((rest && has_word(rest, end, word)) ||
            (condition && strstr(condition, "defined") && has_word(condition, end, word)))
            return true;
    }
    return false;
}

/* Finds the next "#define NAME value". @return the line after it; NULL: there is none. */
static const char *next_define(const char *line, char name[SWEEP_TEXT])
{
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *rest = directive(line, "define");
        size_t length = 0;
        while (rest && is_name_char(rest[length]))
            length++;
        if (!rest || !is_identifier(rest, length) || rest[length] == '(' ||
            rest[length + strspn(rest + length, " \t")] == '\n')
            continue;
        snprintf(name, SWEEP_TEXT, "%.*s", (int)length, rest);
        return line;
    }
    return NULL;
}

/* Lists the names that -D can change: those that are defined after an #ifndef of the same name. */
static void list_parameters(char *to, size_t room, const char *text)
{
    char name[SWEEP_TEXT];
    to[0] = '\0';
    for (const char *line = text; (line = next_define(line, name));
         line += strcspn(line, "\n"), line += *line == '\n') {
        size_t used = strlen(to);
        if (is_guarded(text, line, name) && used + strlen(name) + 3 < room)
            snprintf(to + used, room - used, "%s%s", used ? ", " : "", name);
    }
}

static enum st_code check_parameter(const char *text, const char *parameter, const char *path,
                                    struct st_error *err)
{
    char name[SWEEP_TEXT], known[200];
    list_parameters(known, sizeof known, text);
    for (const char *line = text; (line = next_define(line, name));
         line += strcspn(line, "\n"), line += *line == '\n') {
        if (strcmp(name, parameter) != 0 || is_guarded(text, line, name))
            continue;
        st_fail(err, ST_USAGE, "the source fixes %s, so -D cannot change it", name);
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_HINT, "put it between #ifndef %s and #endif", name);
    }
    if (has_word(text, text + strlen(text), parameter))
        return ST_OK;
    st_fail(err, ST_USAGE, "the source has no parameter %s", parameter);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "%s", known[0] ? known : "a parameter of the source (it has none)");
    return st_detail(
        err, ST_HINT,
        "a parameter is a constant that the compiler may set: #ifndef TILE, #define TILE 16, #endif");
}

enum st_code sweep_source_check(const struct sweep *sweep, const char *path, struct st_error *err)
{
    char *text;
    size_t bytes;
    enum st_code code = file_read(path, GR_SOURCE_MAX_BYTES, &text, &bytes, err);
    if (code)
        return code;
    blank_comments(text);
    for (size_t i = 0; i < sweep->parameters && !code; i++)
        code = check_parameter(text, sweep->parameter[i].name, path, err);
    free(text);
    return code;
}
