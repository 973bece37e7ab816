/* Strings and numbers, made safe for each format. A hostile string appears on the page character
 * for character. U+FFFD replaces what must not be shown: bytes that are not UTF-8, control
 * characters, and marks that reverse the direction of the text around them. */
#include "grader/report/report_parts.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

bool gr_is_formula(const char *text)
{
    return *text && strchr("=+-@\t\r\n", *text);
}

unsigned gr_next_visible(const char **text)
{
    unsigned point = utf8_next(text);
    bool control = point && point < 0x20 && point != '\n' && point != '\t';
    bool direction = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    bool separator = point == 0x2028 || point == 0x2029;
    if (control || direction || separator || (point >= 0x7f && point < 0xa0) || point == 0xfeff)
        return UTF8_REPLACEMENT;
    return point;
}

/* Like gr_next_visible(), but a run of white space becomes one space, and none at the start. *space
 * is the state. */
static unsigned next_on_line(const char **text, bool *space)
{
    unsigned point;
    while ((point = gr_next_visible(text)) == ' ' || point == '\n' || point == '\t') {
        if (!*space) {
            *space = true;
            return ' ';
        }
    }
    *space = false;
    return point;
}

/* The escape of a character in a format. @param escapes  pairs of a character and its replacement,
 * then NULL. */
static const char *escape_of(const char *const *escapes, unsigned point)
{
    unsigned escaped = 0;
    for (; *escapes; escapes++) {
        const size_t bytes = utf8_decode(*escapes, &escaped);
        if (escaped == point)
            return *escapes + bytes;
    }
    return NULL;
}

static void put_escaped(FILE *out, const char *const *escapes, unsigned point)
{
    const char *text = escape_of(escapes, point);
    if (text)
        fputs(text, out);
    else
        utf8_put(out, point);
}

void gr_put_html(FILE *out, const char *text)
{
    static const char *const html[] = {"&&amp;", "<&lt;", ">&gt;", "\"&quot;", "'&#39;", NULL};
    for (unsigned point; (point = gr_next_visible(&text));)
        put_escaped(out, html, point);
}

const char *gr_time_text(char to[GR_TIME_CHARS], double seconds)
{
    return isfinite(seconds) ? number_time(to, seconds, "µs") : strcpy(to, "–");
}

static bool is_alnum(unsigned point)
{
    return (point >= '0' && point <= '9') || (point >= 'A' && point <= 'Z') ||
           (point >= 'a' && point <= 'z');
}

/* Characters of tags, entities or table cells become entities, which are plain text for every
 * Markdown program; marks of emphasis, links and so on get a backslash. */
void gr_put_markdown(FILE *out, const char *text)
{
    static const char *const markdown[] = {"&&amp;", "<&lt;",  ">&gt;", "|&#124;", "`&#96;",
                                           "_\\_",   "\\\\\\", "*\\*",  "[\\[",    "]\\]",
                                           "#\\#",   "~\\~",   "$\\$",  NULL};
    bool space = true;
    unsigned before = ' ';
    for (unsigned point; (point = next_on_line(&text, &space)); before = point) {
        /* snake_case stays readable: within a word, '_' is not a mark */
        if (point == '_' && is_alnum(before) && is_alnum((unsigned char)*text))
            fputc('_', out);
        else
            put_escaped(out, markdown, point);
    }
}

void gr_put_markdown_code(FILE *out, const char *text)
{
    bool plain = *text && *text != ' ' && text[strlen(text) - 1] != ' ';
    for (const char *p = text; *p; p++)
        plain =
            plain && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x7f && !strchr("`|\\", *p);
    if (plain)
        fprintf(out, "`%s`", text);
    else
        gr_put_markdown(out, text);
}

void gr_put_markdown_block(FILE *out, const char *text)
{
    size_t longest = 2, run = 0;
    for (const char *p = text; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fputs("text\n", out);
    unsigned before = '\n';
    for (unsigned point; (point = gr_next_visible(&text)); before = point) {
        if (before == '\n' && point == '<')
            fputc(' ', out); /* a space, so that no line looks like a marker of a report */
        utf8_put(out, point);
    }
    if (before != '\n')
        fputc('\n', out);
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fputc('\n', out);
}

/* Characters that the fonts OT1 and T1 show without a package. '[' and '*' would be read as an
 * argument of the \\ that ends the previous row. */
/* clang-format off */
static const char *const latex[] = {
    "\\\\textbackslash{}", "{\\{", "}\\}", "$\\$", "&\\&", "#\\#", "%\\%", "_\\_",
    "^\\textasciicircum{}", "~\\textasciitilde{}", "<\\textless{}", ">\\textgreater{}",
    "|\\textbar{}", "`\\`{}", "\"\\char34{}", "--{}", "[{[}", "*{*}",
    "\u00a0~", "–--", "—---", "‘`", "’'", "“``", "”''", "…\\ldots{}", "─-{}", "│\\textbar{}",
    "²$^2$", "⁰$^0$", "¹$^1$", "³$^3$", "⁴$^4$", "⁵$^5$", "⁶$^6$", "⁷$^7$", "⁸$^8$", "⁹$^9$",
    "±$\\pm$", "×$\\times$", "·$\\cdot$", "←$\\leftarrow$", "→$\\to$", "−$-$", "√$\\surd$",
    "∞$\\infty$", "≈$\\approx$", "≠$\\ne$", "✓$\\surd$", "✗$\\times$", "≤$\\le$", "≥$\\ge$",
    "µ$\\mu$", "Δ$\\Delta$", "Σ$\\Sigma$", "Ω$\\Omega$", "α$\\alpha$", "β$\\beta$", "δ$\\delta$",
    "ε$\\epsilon$", "λ$\\lambda$", "μ$\\mu$", "π$\\pi$", "σ$\\sigma$",
    NULL};
/* clang-format on */

/* Accented Latin letters after ISO 8859-1, U+0100 to U+017E, as TeX's accent and letter; empty: not
 * an accented letter. */
static const char *const latin_extended[] = {
    "=A", "=a", "uA", "ua", "kA", "ka", "'C", "'c", "^C",  "^c", ".C", ".c", "vC", "vc", "vD", "vd",
    "",   "",   "=E", "=e", "uE", "ue", ".E", ".e", "kE",  "ke", "vE", "ve", "^G", "^g", "uG", "ug",
    ".G", ".g", "cG", "cg", "^H", "^h", "",   "",   "~I",  "~i", "=I", "=i", "uI", "ui", "kI", "ki",
    ".I", "",   "",   "",   "^J", "^j", "cK", "ck", "",    "'L", "'l", "cL", "cl", "vL", "vl", "",
    "",   "",   "",   "'N", "'n", "cN", "cn", "vN", "vn",  "",   "",   "",   "=O", "=o", "uO", "uo",
    "HO", "Ho", "",   "",   "'R", "'r", "cR", "cr", "vR",  "vr", "'S", "'s", "^S", "^s", "cS", "cs",
    "vS", "vs", "cT", "ct", "vT", "vt", "",   "",   "~U",  "~u", "=U", "=u", "uU", "uu", "rU", "ru",
    "HU", "Hu", "kU", "ku", "^W", "^w", "^Y", "^y", "\"Y", "'Z", "'z", ".Z", ".z", "vZ", "vz"};

static bool put_accented(FILE *out, unsigned point)
{
    const size_t at = point - 0x100;
    if (point == 0x141 || point == 0x142) {
        fputs(point == 0x141 ? "\\L{}" : "\\l{}", out);
        return true;
    }
    if (point < 0x100 || at >= sizeof latin_extended / sizeof *latin_extended ||
        !*latin_extended[at])
        return false;
    fprintf(out, "\\%c{%c}", latin_extended[at][0], latin_extended[at][1]);
    return true;
}

bool gr_put_latex_point(FILE *out, unsigned point)
{
    const char *text = escape_of(latex, point);
    /* All fonts have accented Latin letters; only T1 has eth and thorn. */
    bool letter = point >= 0xc0 && point <= 0xff && point != 0xd0 && point != 0xde &&
                  point != 0xf0 && point != 0xf7 && point != 0xfe;
    if (text)
        fputs(text, out);
    else if (point < 0x80 || letter)
        utf8_put(out, point);
    else if (!put_accented(out, point)) {
        fputc('?', out);
        return false;
    }
    return true;
}

void gr_put_latex(FILE *out, const char *text)
{
    bool space = true;
    for (unsigned point; (point = next_on_line(&text, &space));)
        gr_put_latex_point(out, point);
}

void gr_put_base64(FILE *out, const char *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)data;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t n = bytes - i < 3 ? bytes - i : 3;
        unsigned bits = (unsigned)p[i] << 16 | (n > 1 ? (unsigned)p[i + 1] << 8 : 0) |
                        (n > 2 ? (unsigned)p[i + 2] : 0);
        fputc(digit[bits >> 18], out);
        fputc(digit[bits >> 12 & 63], out);
        fputc(n > 1 ? digit[bits >> 6 & 63] : '=', out);
        fputc(n > 2 ? digit[bits & 63] : '=', out);
    }
}
