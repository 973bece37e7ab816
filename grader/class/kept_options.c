/* The options with which a milestone's grades were made. The gradebook keeps them (setting
 * options_mN), and a run without these options adopts them. To give different options, --change is
 * needed, because they cause everything to be graded again. */
#include "grader/class/class_options.h"

#include "base/files.h"

#include <stdlib.h>
#include <string.h>

const char *const cl_kept_names[CL_KEPT] = {"images", "model", "shapes", "device", "quick"};

/* ---- as text: "--images 100,1000 --shapes shapes.tsv@0123456789abcdef --quick" ---------------- */

/* @return the value of an option in the text, or NULL. */
static const char *find_option(const char *text, const char *name)
{
    char word[32];
    const size_t length = (size_t)snprintf(word, sizeof word, "--%s", name);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return at + length + (at[length] == ' ');
    return NULL;
}

static void parse(const char *text, cl_kept_values value)
{
    for (size_t i = 0; i < CL_KEPT; i++) {
        const char *at = find_option(text, cl_kept_names[i]);
        const char *end = at && i != CL_QUICK ? strstr(at, " --") : NULL;
        value[i][0] = '\0';
        if (at && i == CL_QUICK)
            snprintf(value[i], CL_FLAG_CHARS, "yes");
        else if (at)
            snprintf(value[i], CL_FLAG_CHARS, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
    }
}

static void join(char *to, size_t room, cl_kept_values value)
{
    *to = '\0';
    for (size_t i = 0; i < CL_KEPT; i++) {
        const size_t used = strlen(to);
        const bool alone = i == CL_QUICK;
        if (value[i][0])
            snprintf(to + used, room - used, "%s--%s%s%s", used ? " " : "", cl_kept_names[i],
                     alone ? "" : " ", alone ? "" : value[i]);
    }
}

/* ---- the gradebook's options ---------------------------------------------------------------- */

/* Reads the kept options. In a gradebook from before options were kept, they are those of the
 * newest grading.
 * @param text  set to malloc'd text; NULL if the milestone was never graded */
static enum st_code read_kept(struct gradebook *book, const char *milestone, char **text,
                              struct st_error *err)
{
    char name[32];
    struct gb_attempt_list newest = {0};
    snprintf(name, sizeof name, "options_%s", milestone);
    *text = NULL;
    enum st_code code = gb_attempt_read(
        book, &newest, err,
        "WHERE milestone = %Q AND source_hash IS NOT NULL ORDER BY id DESC LIMIT 1", milestone);
    if (!code && newest.n)
        code = gb_setting_get(book, name, text, err);
    if (newest.n && !*text)
        *text = strdup(newest.row[0].options);
    gb_attempt_free(&newest);
    return code;
}

static bool may_change(const struct cl_options *o, const char *name)
{
    char word[16];
    for (const char *at = o->change; at && cl_list_next(&at, word, sizeof word);)
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

static const char *or_none(const char *value)
{
    return value[0] ? value : "none";
}

/* Adopts one kept option of one milestone. @param given  the command line's value, replaced by the
 * adopted value
 * @param by  the earlier milestone from which the value came, or NULL */
static enum st_code take_up(const struct cl_options *o, size_t option, const char *milestone,
                            const char *kept, char given[CL_FLAG_CHARS], const char **by,
                            struct st_error *err)
{
    const char *name = cl_kept_names[option];
    if (may_change(o, name) || strcmp(kept, given) == 0)
        return ST_OK;
    if (!given[0] && !*by) {
        snprintf(given, CL_FLAG_CHARS, "%s", kept);
        *by = milestone;
        return ST_OK;
    }
    st_fail(err, ST_USAGE, "%s was graded with a different --%s", milestone, name);
    st_detail(err, ST_WHERE, "%s", o->gradebook);
    st_detail(err, ST_EXPECTED, "%s", or_none(kept));
    st_detail(err, ST_GOT, "%s%s%s", or_none(given), *by ? " of " : "", *by ? *by : "");
    if (*by)
        return st_detail(err, ST_HINT, "grade %s and %s in separate runs", *by, milestone);
    return st_detail(
        err, ST_HINT,
        "omit --%s to grade as before; --change %s grades all again with the new value", name,
        name);
}

/* ---- adopting options ----------------------------------------------------------------------- */

/* Finds the kept file of "shapes.tsv@0123456789abcdef":
 * GRADEBOOK.files/given/0123456789abcdef/shapes.tsv. */
static enum st_code find_given(const char *files, const char *flag, const char *name,
                               char path[PATH_MAX], struct st_error *err)
{
    const char *at = strrchr(flag, '@');
    if (!at) {
        path_format(path, PATH_MAX, "%s", flag);
        return ST_OK;
    }
    if (path_format(path, PATH_MAX, "%s/given/%s/%.*s", files, at + 1, (int)(at - flag), flag) &&
        file_exists(path))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "the gradebook's copy of --%s is missing", name);
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "pass the file with --%s again", name);
}

static enum st_code adopt(struct cl_options *o, const char *files, size_t option, char *flag,
                          struct st_error *err)
{
    static char path[CL_KEPT][PATH_MAX];
    static char device[PATH_MAX + sizeof CL_VIRTUAL];
    const bool is_virtual =
        option == CL_DEVICE && strncmp(flag, CL_VIRTUAL, strlen(CL_VIRTUAL)) == 0;
    if (option == CL_IMAGES)
        return gr_options_take_images(&o->asked, flag, NULL, NULL), ST_OK;
    if (option == CL_QUICK)
        return o->quick = true, ST_OK;
    enum st_code code = find_given(files, is_virtual ? flag + strlen(CL_VIRTUAL) : flag,
                                   cl_kept_names[option], path[option], err);
    snprintf(device, sizeof device, "%s%s", is_virtual ? CL_VIRTUAL : "", path[CL_DEVICE]);
    *(option == CL_MODEL    ? &o->asked.model
      : option == CL_SHAPES ? &o->shapes
                            : &o->asked.device) = option == CL_DEVICE ? device : path[option];
    return code;
}

enum st_code cl_options_keep(struct cl_options *o, struct gradebook *book, const char *files,
                             struct st_error *err)
{
    const char *by[CL_KEPT] = {NULL};
    enum st_code code = ST_OK;
    for (size_t m = 0; !code && m < o->milestones; m++) {
        char *text;
        cl_kept_values kept;
        if ((code = read_kept(book, o->milestone[m].id, &text, err)) || !text)
            continue;
        parse(text, kept);
        free(text);
        for (size_t i = 0; !code && i < CL_KEPT; i++)
            code = take_up(o, i, o->milestone[m].id, kept[i], o->flag[i], &by[i], err);
    }
    for (size_t i = 0; !code && i < CL_KEPT; i++)
        if (by[i])
            code = adopt(o, files, i, o->flag[i], err);
    join(o->flags, sizeof o->flags, o->flag);
    for (size_t m = 0; !code && m < o->milestones; m++) {
        char name[32];
        snprintf(name, sizeof name, "options_%s", o->milestone[m].id);
        code = gb_setting_put(book, &(struct gb_setting){name, o->flags}, err);
    }
    for (size_t i = 0; !code && i < CL_KEPT; i++)
        if (by[i])
            return printf(
                       "Graded with the gradebook's options: %s (--change NAME to replace one)\n",
                       o->flags),
                   ST_OK;
    return code;
}
