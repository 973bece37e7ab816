#include "grader/paper/latex_text.h"

#include "grader/report/report_parts.h"

#include <string.h>

enum { LONG_WORD = 24, NARROW_LINE = 92 };

static void put_point(struct tex_out *tex, unsigned point)
{
    tex->lost += !gr_put_latex_point(tex->out, point);
}

void tex_put_text(struct tex_out *tex, const char *text)
{
    size_t word = 0;
    for (unsigned point; (point = gr_next_visible(&text));) {
        const bool space = point == ' ' || point == '\n' || point == '\t';
        word = space ? 0 : word + 1;
        if (space)
            fputc(' ', tex->out);
        else
            put_point(tex, point);
        if (word && word % LONG_WORD == 0)
            fputs("\\allowbreak{}", tex->out);
    }
}

/* Blanks are kept; a line may be broken after punctuation. */
static void put_mono(struct tex_out *tex, unsigned point, size_t *word)
{
    if (point == ' ' || point == '\t' || point == '\n') {
        fputs("\\ ", tex->out);
        *word = 0;
        return;
    }
    put_point(tex, point);
    ++*word;
    if (point < 0x80 && (strchr(":,<>(_/;=&", (int)point) || *word % LONG_WORD == 0))
        fputs("\\allowbreak{}", tex->out);
}

void tex_put_code(struct tex_out *tex, const char *text)
{
    size_t word = 0;
    fputs("\\texttt{", tex->out);
    for (unsigned point; (point = gr_next_visible(&text));)
        put_mono(tex, point, &word);
    fputc('}', tex->out);
}

static size_t longest_line(const char *text)
{
    size_t longest = 0, length = 0;
    for (unsigned point; (point = gr_next_visible(&text));) {
        length = point == '\n' ? 0 : length + 1;
        longest = length > longest ? length : longest;
    }
    return longest;
}

void tex_put_lines(struct tex_out *tex, const char *text)
{
    size_t word = 0;
    bool start = true;
    const char *size = longest_line(text) <= NARROW_LINE ? "\\footnotesize" : "\\scriptsize";
    fprintf(tex->out, "\n\\begin{flushleft}\\leftskip=1em\\hangindent=1em%s\\ttfamily\n", size);
    for (unsigned point; (point = gr_next_visible(&text));) {
        if (point == '\n') {
            if (*text) /* not after the last line */
                fputs(start ? "\\mbox{}\\\\\n" : "\\\\\n", tex->out);
            start = true;
            continue;
        }
        if (start) /* blanks at the start of a line would otherwise vanish */
            fputs("\\mbox{}", tex->out), word = 0;
        start = false;
        put_mono(tex, point, &word);
    }
    fputs("\n\\end{flushleft}\n", tex->out);
}

bool tex_begin_link(struct tex_out *tex, const char *address)
{
    static const char plain[] = "-._:/?@!$'()*+,;=";
    if (strncmp(address, "http://", 7) != 0 && strncmp(address, "https://", 8) != 0 &&
        strncmp(address, "mailto:", 7) != 0)
        return false;
    fputs("\\href{", tex->out);
    for (const unsigned char *p = (const unsigned char *)address; *p; p++) {
        const bool alnum =
            (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z');
        if (alnum || (strchr(plain, *p) && !strchr("_$", *p)))
            fputc(*p, tex->out);
        else if (strchr("#%&_", *p))
            fprintf(tex->out, "\\%c", *p);
        else
            fprintf(tex->out, "\\%%%02X", *p);
    }
    fputs("}{", tex->out);
    return true;
}
