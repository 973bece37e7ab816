/* `grader explain NAME` prints the page about a mistake; without a name, a list of all pages. */
#include "base/option_table.h"
#include "base/status.h"
#include "grader/explain/explain.h"

#include <string.h>

int gr_command_explain(int argc, char **argv);

struct arguments {
    const char *name;
};

static int line_chars(const char *line)
{
    return (int)strcspn(line, "\n");
}

enum { NAME_COLUMN = 22, LINE = 100 };

/* Prints a text's first sentence in the column beside the names. */
static void print_sentence(const char *text)
{
    int used = 0;
    for (const char *word = text; word[0] && word[0] != '\n';) {
        const int chars = (int)strcspn(word, " \n");
        const bool ends = word[chars - 1] == '.' || word[chars] == '\0' ||
                          (word[chars] == '\n' && word[chars + 1] == '\n');
        if (used && used + 1 + chars > LINE - NAME_COLUMN - 4) {
            printf("\n%*s", NAME_COLUMN + 4, "");
            used = 0;
        }
        printf("%s%.*s", used ? " " : "", chars, word);
        used += chars + (used > 0);
        if (ends)
            break;
        word += chars + 1;
    }
    printf("\n");
}

static void print_names(void)
{
    const char *part = NULL;
    for (struct ex_page page = {0}; ex_page_next(&page);) {
        char name[EX_NAME_CHARS];
        if (page.part != part)
            printf("%s%.*s\n", part ? "\n" : "", line_chars(page.part), page.part);
        part = page.part;
        ex_page_name(&page, 0, name);
        printf("  %-*s  ", NAME_COLUMN, name);
        print_sentence(page.text);
        for (size_t i = 1; ex_page_name(&page, i, name); i++)
            printf("  %s\n", name);
    }
    printf("\nRun ./grader explain NAME for the cause, an example and the fix.\n");
}

static int print_page(const char *program, const char *name)
{
    struct ex_page page;
    struct st_error err;
    char nearest[EX_NAME_CHARS];
    if (ex_page_find(name, &page)) {
        printf("%s: %.*s\n", name, (int)page.text_chars, page.text);
        return 0;
    }
    ex_name_nearest(name, nearest);
    st_fail(&err, ST_NOT_FOUND, "no page is named '%.60s'", name);
    st_detail(&err, ST_HINT, "%s%s%s", nearest[0] ? "the most similar name is " : "", nearest,
              nearest[0] ? "; ./grader explain lists all" : "./grader explain lists all names");
    st_print(stderr, program, &err);
    return 2;
}

int gr_command_explain(int argc, char **argv)
{
    struct arguments a = {0};
    static const struct option_row rows[] = {
        {.value = "name", OPTION_OPERAND(struct arguments, name)}, {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "[MISTAKE]",
        .about =
            "Explain a mistake: its cause, an example of wrong code, and the fix. MISTAKE is the pattern of a failed check. Without it, list all names."
            "\vExit status: 0, or 2 if there is no such name."};
    options_parse(&table, argc, argv, &a);
    if (a.name)
        return print_page(argv[0], a.name);
    print_names();
    return 0;
}
