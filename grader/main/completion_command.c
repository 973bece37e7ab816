/* `grader completion SHELL`: prints a script that makes a shell complete the grader's command
 * line. */
#include "base/option_table.h"
#include "grader/main/command_line.h"
#include "grader/main/completion.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND(name, summary) int gr_command_##name(int argc, char **argv);
#include "grader/main/commands.def"
#undef COMMAND

static int list_grading(int argc, char **argv)
{
    struct gr_options options;
    gr_options_parse(&options, argc, argv);
    return 0;
}

/* Grading comes first. */
static const struct co_entry entries[] = {
    {"", "grade a milestone", list_grading},
#define COMMAND(name, summary) {#name, summary, gr_command_##name},
#include "grader/main/commands.def"
#undef COMMAND
};

enum { ENTRIES = sizeof entries / sizeof *entries };
static_assert(ENTRIES <= (int)CO_MAX_COMMANDS, "room for all commands");

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_value(const struct co_value *value)
{
    if (value->words)
        printf(" words='%s'", value->words);
    if (value->files || value->folders)
        printf(" kind=%s", value->files ? "file" : "directory");
    printf(" ;;\n");
}

static void bash_command(const struct co_command *c)
{
    printf("    %s)\n        options='--help", c->name[0] ? c->name : "*");
    for (size_t i = 0; i < c->options; i++)
        printf(" --%s", c->option[i].name);
    printf("'\n        case $before in\n");
    for (size_t i = 0; i < c->options; i++) {
        const struct co_option *o = &c->option[i];
        if (!o->value.any)
            continue;
        printf("        --%s%s%s) options=", o->name, o->letter[0] ? "|-" : "", o->letter);
        bash_value(&o->value);
    }
    printf("        *)");
    bash_value(&c->operand);
    printf("        esac ;;\n");
}

static void bash_script(const struct co_line *line)
{
    printf("# bash: eval \"$(./grader completion bash)\"\n"
           "_convlab_grader() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local options= words= kind=\n"
           "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    [ \"$word\" = = ] && before=${COMP_WORDS[COMP_CWORD-1]} word=\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 1; i < line->commands; i++)
        bash_command(&line->command[i]);
    bash_command(&line->command[0]);
    printf("    esac\n"
           "    [ \"$COMP_CWORD\" = 1 ] && words=\"$words");
    for (size_t i = 1; i < line->commands; i++)
        printf(" %s", line->command[i].name);
    printf("\"\n"
           "    case $word in -*) words=$options kind= ;; esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" ${kind:+-A \"$kind\"} -- \"$word\"))\n"
           "    [ -z \"$kind\" ] || compopt -o filenames 2>/dev/null\n"
           "}\n"
           "complete -F _convlab_grader grader ./grader\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* Writes text inside single quotes, where zsh's _arguments gives brackets and colons a meaning. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

static void zsh_action(const struct co_value *value)
{
    if (value->words)
        printf("(%s)", value->words);
    else if (value->files || value->folders)
        printf("_files%s", value->files ? "" : " -/");
    else
        putchar(' ');
}

static void zsh_option(const struct co_option *o, const char *dashes, const char *name)
{
    printf(" \\\n            '%s%s%s[", dashes, name, !o->value.any ? "" : dashes[1] ? "=" : "+");
    zsh_text(o->help);
    putchar(']');
    if (o->value.any) {
        printf(":%s:", o->name);
        zsh_action(&o->value);
    }
    putchar('\'');
}

static void zsh_command(const struct co_command *c)
{
    printf("    %s)\n        _arguments '--help[print the options]'", c->name[0] ? c->name : "*");
    for (size_t i = 0; i < c->options; i++) {
        zsh_option(&c->option[i], "--", c->option[i].name);
        if (c->option[i].letter[0])
            zsh_option(&c->option[i], "-", c->option[i].letter);
    }
    if (c->operand.any) {
        printf(" \\\n            '*:operand:");
        zsh_action(&c->operand);
        putchar('\'');
    }
    printf(" ;;\n");
}

static void zsh_script(const struct co_line *line)
{
    printf("#compdef grader\n"
           "# zsh: source <(./grader completion zsh)\n"
           "_convlab_grader() {\n"
           "    local -a commands milestones\n"
           "    milestones=(%s)\n"
           "    commands=(",
           line->milestones ? line->milestones : "");
    for (size_t i = 1; i < line->commands; i++) {
        printf("\n        '%s:", line->command[i].name);
        zsh_text(line->command[i].summary);
        putchar('\'');
    }
    printf(")\n"
           "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
           "        _describe command commands\n"
           "        compadd -- $milestones\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    if (( ${commands[(I)$command:*]} )); then\n"
           "        shift words\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    case $command in\n");
    for (size_t i = 1; i < line->commands; i++)
        zsh_command(&line->command[i]);
    zsh_command(&line->command[0]);
    printf("    esac\n"
           "}\n"
           "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
           "compdef _convlab_grader grader ./grader\n");
}

/* ---- fish ----------------------------------------------------------------------------------- */

/* Writes text inside single quotes. */
static void fish_text(const char *text)
{
    for (; *text; text++)
        printf("%s%c", strchr("'\\", *text) ? "\\" : "", *text);
}

static void fish_value(const struct co_value *value)
{
    if (value->words)
        printf(" -a '%s'", value->words);
    else if (value->folders && !value->files)
        printf(" -a '(__fish_complete_directories)'");
    if (value->files)
        printf(" -F");
}

static void fish_begin(const struct co_command *c)
{
    if (c->name[0])
        printf("complete -c grader -n '__fish_seen_subcommand_from %s'", c->name);
    else
        printf("complete -c grader -n 'not __fish_seen_subcommand_from $convlab_commands'");
}

static void fish_command(const struct co_command *c)
{
    for (size_t i = 0; i < c->options; i++) {
        const struct co_option *o = &c->option[i];
        fish_begin(c);
        printf(" -l %s%s%s%s -d '", o->name, o->letter[0] ? " -s " : "", o->letter,
               !o->value.any    ? ""
               : o->value.files ? " -r"
                                : " -x");
        fish_text(o->help);
        putchar('\'');
        fish_value(&o->value);
        putchar('\n');
    }
    if (c->operand.any) {
        fish_begin(c);
        fish_value(&c->operand);
        putchar('\n');
    }
}

static void fish_script(const struct co_line *line)
{
    printf("# fish: ./grader completion fish | source\nset -g convlab_commands");
    for (size_t i = 1; i < line->commands; i++)
        printf(" %s", line->command[i].name);
    printf("\ncomplete -c grader -f\n");
    for (size_t i = 1; i < line->commands; i++) {
        printf("complete -c grader -n '__fish_is_first_arg' -a %s -d '", line->command[i].name);
        fish_text(line->command[i].summary);
        printf("'\n");
    }
    for (size_t i = 0; i < line->commands; i++)
        fish_command(&line->command[i]);
}

/* ---- the command ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*print)(const struct co_line *line);
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

enum { SHELLS = sizeof shells / sizeof *shells };

static enum st_code print_script(const char *shell, struct st_error *err)
{
    size_t at = 0;
    while (at < SHELLS && strcmp(shells[at].name, shell) != 0)
        at++;
    if (at == SHELLS) {
        st_fail(err, ST_USAGE, "no such shell");
        st_detail(err, ST_EXPECTED, "bash, zsh or fish");
        return st_detail(err, ST_GOT, "'%s'", shell);
    }
    struct co_line *line = calloc(1, sizeof *line);
    if (!line)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the options");
    const enum st_code code = co_line_read(line, entries, ENTRIES, err);
    if (!code)
        shells[at].print(line);
    co_line_free(line);
    free(line);
    return code;
}

int gr_command_completion(int argc, char **argv)
{
    struct arguments {
        const char *shell;
    } a = {0};
    static const struct option_row rows[] = {{.value = "shell",
                                              .help = "expected a shell: bash, zsh or fish",
                                              OPTION_OPERAND(struct arguments, shell)},
                                             {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "SHELL",
        .about =
            "Print a script that makes bash, zsh or fish complete the grader's commands, options "
            "and values: eval \"$(./grader completion bash)\", source <(./grader completion "
            "zsh), ./grader completion fish | source."};
    struct st_error err;
    options_parse(&table, argc, argv, &a);
    if (!print_script(a.shell, &err))
        return 0;
    st_print(stderr, argv[0], &err);
    return 2;
}
