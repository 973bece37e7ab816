/* Commands, options and values for completion. A command is a function that ends the process if it
 * gets --help, so each command runs in a separate process. */
#include "grader/main/completion.h"

#include "base/option_table.h"
#include "grader/course/milestone.h"
#include "grader/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a command's --help --------------------------------------------------------------------- */

static void ask(const struct co_entry *entry, int to)
{
    char name[] = "grader", list[] = OPTIONS_LIST, *argv[] = {name, list, NULL};
    dup2(to, STDOUT_FILENO);
    exit(entry->run(2, argv));
}

/* Reads everything from a descriptor into malloc'd text. */
static char *read_all(int from)
{
    char *text = NULL;
    size_t room = 0;
    FILE *in = fdopen(from, "r");
    if (!in || getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    return text;
}

static enum st_code listed_by(const struct co_entry *entry, char **text, struct st_error *err)
{
    int ends[2], status = -1;
    fflush(NULL);
    if (pipe(ends) != 0)
        return st_fail_errno(err, errno, "cannot create a pipe");
    const pid_t child = fork();
    if (child == 0)
        ask(entry, ends[1]);
    const int reason = errno;
    close(ends[1]);
    *text = read_all(ends[0]);
    if (child < 0)
        return st_fail_errno(err, reason, "cannot start a process");
    waitpid(child, &status, 0);
    if (*text && status == 0)
        return ST_OK;
    return st_fail(err, ST_CHILD, "the command '%s' does not list its options", entry->name);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Appends a word to a malloc'd list, and returns the new list. */
static char *with_word(char *words, const char *word)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", words ? words : "", words ? " " : "", word) < 0)
        abort();
    free(words);
    return longer;
}

/* Gets all milestones from the error message for an unknown milestone, without the commas. */
static char *all_milestones(void)
{
    struct gr_milestone milestone;
    struct st_error err;
    char *words = NULL, *rest = err.expected, *word;
    if (gr_milestone_find(&milestone, "?", &err))
        while ((word = strsep(&rest, ", ")))
            if (word[0])
                words = with_word(words, word);
    return words;
}

static char *all_mistakes(void)
{
    char *words = NULL, name[EX_NAME_CHARS];
    for (struct ex_page page = {0}; ex_page_next(&page);)
        for (size_t i = 0; ex_page_name(&page, i, name); i++)
            words = with_word(words, name);
    return words;
}

/* The possible values of an option or operand, by its name in --help. */
static struct co_value value_of(const struct co_line *line, const char *called, const char *words)
{
    struct co_value value = {.any = called[0] != '\0'};
    if (words[0])
        value.words = with_word(NULL, words);
    else if (strstr(called, "SHELL"))
        value.words = with_word(NULL, "bash zsh fish");
    else if (strstr(called, "MISTAKE"))
        value.words = all_mistakes();
    else if (strstr(called, "DEVICE"))
        value.words = with_word(NULL, "auto gpu virtual");
    else if (line->milestones &&
             (strstr(called, "mN") || strstr(called, "m1") || strstr(called, "MILESTONE")))
        value.words = with_word(NULL, line->milestones);
    value.files = strstr(called, "FILE") || strstr(called, "RESULT");
    value.folders = strstr(called, "DIR") || strstr(called, "FOLDER");
    return value;
}

/* ---- all commands --------------------------------------------------------------------------- */

static void take_line(const struct co_line *line, struct co_command *command, char *text)
{
    const char *const name = strsep(&text, "\t"), *const letter = strsep(&text, "\t");
    const char *const called = strsep(&text, "\t"), *const words = strsep(&text, "\t");
    if (!text)
        return;
    const struct co_value value = value_of(line, called, words);
    if (name[0] && command->options < CO_MAX_OPTIONS)
        command->option[command->options++] = (struct co_option){name, letter, text, value};
    else
        command->operand = value;
}

enum st_code co_line_read(struct co_line *line, const struct co_entry *entries, size_t n,
                          struct st_error *err)
{
    enum st_code code = ST_OK;
    *line = (struct co_line){.milestones = all_milestones()};
    for (size_t i = 0; !code && i < n; i++) {
        struct co_command *command = &line->command[line->commands++];
        command->name = entries[i].name;
        command->summary = entries[i].summary;
        code = listed_by(&entries[i], &command->text, err);
        char *rest = command->text;
        while (!code && rest && *rest)
            take_line(line, command, strsep(&rest, "\n"));
    }
    return code;
}

void co_line_free(struct co_line *line)
{
    for (size_t i = 0; i < line->commands; i++) {
        struct co_command *command = &line->command[i];
        for (size_t o = 0; o < command->options; o++)
            free(command->option[o].value.words);
        free(command->operand.words);
        free(command->text);
    }
    free(line->milestones);
}
