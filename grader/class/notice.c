/* Notices: a run's messages about named submissions, on the terminal and in the gradebook. */
#include "grader/class/class.h"

#include "base/progress.h"

#include <stdarg.h>

void cl_notice(struct cl_class *class, const char *name, const char *text, ...)
{
    char what[1024], line[2 * 1024], shown[CL_SHOWN_BYTES], stored[CL_NAME_BYTES];
    struct st_error err;
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof what, text, args);
    va_end(args);
    snprintf(line, sizeof line, "%s%s%s", name ? cl_name_shown(shown, name) : "", name ? ": " : "",
             what);
    progress_clear();
    fprintf(stderr, "grader class: %s\n", cl_name_shown(shown, line));
    class->notices++;
    char text_name[CL_NAME_BYTES];
    if (name)
        cl_name_text(text_name, name);
    cl_name_text(stored, what);
    const struct gb_notice notice = {
        .run = class->run, .submission = name ? text_name : NULL, .message = stored};
    if (gb_notice_put(class->book, &notice, &err))
        st_print(stderr, "grader class", &err);
}
