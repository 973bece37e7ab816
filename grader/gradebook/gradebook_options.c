#include "grader/gradebook/gradebook_options.h"

struct inputs {
    void *command;
    const char **gradebook;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct inputs *inputs = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = inputs->command;
        return 0;
    case 'g':
        *inputs->gradebook = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void gb_options_parse(const struct argp *argp, int argc, char **argv, void *input,
                      const char **gradebook)
{
    static const struct argp_option options[] = {
        {"gradebook", 'g', "FILE", 0, "the gradebook (default: gradebook.db)", 0}, {0}};
    const struct argp command = {.options = argp->options, .parser = argp->parser};
    const struct argp_child children[] = {{&command, 0, NULL, 0}, {0}};
    const struct argp all = {.options = options,
                             .parser = parse,
                             .args_doc = argp->args_doc,
                             .doc = argp->doc,
                             .children = children};
    struct inputs inputs = {.command = input, .gradebook = gradebook};
    *gradebook = "gradebook.db";
    argp_err_exit_status = 2;
    argp_parse(&all, argc, argv, 0, NULL, &inputs);
}
