/* Finds people by their names on platforms and rosters. */
#include "grader/standing/people.h"

#include "base/utf8.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

/* ---- names ---------------------------------------------------------------------------------- */

enum { MOST_WORDS = 8, PLAIN_BYTES = 512 };

/* The words of a name, in lower case, with only letters and digits: "Lee, Ann-Marie" becomes "lee"
 * and "annmarie". */
struct plain_name {
    size_t words;
    char word[MOST_WORDS][PLAIN_BYTES / 4];
};

static void put_point(char *to, size_t room, wint_t point)
{
    const size_t used = strlen(to);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out) {
        utf8_put(out, (unsigned)point);
        fclose(out);
        snprintf(to + used, room - used, "%s", text);
    }
    free(text);
}

static void make_plain(struct plain_name *to, const char *name)
{
    static locale_t locale;
    if (!locale)
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    memset(to, 0, sizeof *to);
    bool inside = false;
    for (const char *at = name; *at;) {
        const wint_t point = (wint_t)utf8_next(&at);
        if (point == ' ' || point == ',' || point == '_') {
            inside = false;
        } else if (iswalnum_l(point, locale)) {
            to->words += !inside && to->words < MOST_WORDS;
            inside = true;
            put_point(to->word[to->words - 1], sizeof to->word[0], towlower_l(point, locale));
        }
    }
}

/* Joins the words, beginning with word @p first and wrapping around: "annlee" or "leeann". */
static void join(char to[PLAIN_BYTES], const struct plain_name *name, size_t first)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < name->words && used < PLAIN_BYTES; i++)
        used += (size_t)snprintf(to + used, PLAIN_BYTES - used, "%s",
                                 name->word[(first + i) % name->words]);
}

static bool same_name(const char *a, const char *b)
{
    struct plain_name x, y;
    char one[PLAIN_BYTES], other[PLAIN_BYTES];
    make_plain(&x, a);
    make_plain(&y, b);
    join(one, &x, 0);
    for (size_t first = 0; first < y.words; first++) {
        join(other, &y, first);
        if (one[0] && strcmp(one, other) == 0)
            return true;
    }
    return false;
}

/* ---- the roster ----------------------------------------------------------------------------- */

static bool is_named(const struct gb_roster *row, const struct sd_person *person)
{
    return person->name[0] &&
           (strcmp(row->name, person->name) == 0 || same_name(person->name, row->display_name) ||
            same_name(person->name, row->name));
}

static bool same_text(const char *a, const char *b)
{
    return a[0] && b[0] && strcasecmp(a, b) == 0;
}

static bool is_known(const struct gb_roster *row, const struct sd_person *person, int by)
{
    return by == 0
               ? same_text(row->platform_id, person->id) || same_text(row->sis_id, person->sis_id)
           : by == 1 ? same_text(row->email, person->email) || same_text(row->name, person->email)
                     : is_named(row, person);
}

const struct gb_roster *sd_roster_find(const struct gb_roster_list *roster,
                                       const struct sd_person *person, char *odd, size_t room)
{
    const struct gb_roster *found[3] = {NULL}, *best = NULL;
    odd[0] = '\0';
    for (int by = 0; by < 3; by++) {
        size_t n = 0;
        for (size_t i = 0; i < roster->n; i++)
            if (is_known(&roster->row[i], person, by)) {
                found[by] = &roster->row[i];
                n++;
            }
        if (n > 1) {
            found[by] = NULL;
            if (!best && !odd[0])
                snprintf(odd, room, "%zu rows of the roster have this name", n);
        } else if (n == 1 && !best) {
            best = found[by];
            odd[0] = '\0';
        } else if (n == 1 && best && best != found[by] && !odd[0]) {
            snprintf(odd, room,
                     "its %s belongs to %s in the roster, its %s to %s, which is ignored",
                     found[0] == best ? "number" : "e-mail address", best->name,
                     by == 1 ? "e-mail address" : "name", found[by]->name);
        }
    }
    return best;
}

const struct gb_roster *sd_roster_named(const struct gb_roster_list *roster, const char *who,
                                        char *odd, size_t room)
{
    struct sd_person person;
    snprintf(person.name, sizeof person.name, "%s", who);
    snprintf(person.email, sizeof person.email, "%s", strchr(who, '@') ? who : "");
    snprintf(person.id, sizeof person.id, "%s", who);
    snprintf(person.sis_id, sizeof person.sis_id, "%s", who);
    return sd_roster_find(roster, &person, odd, room);
}

const char *sd_roster_team(const struct gb_roster_list *roster, const char *name)
{
    for (size_t i = 0; name[0] && i < roster->n; i++)
        if (roster->row[i].team[0] && same_name(name, roster->row[i].team))
            return roster->row[i].team;
    return NULL;
}

const char *sd_team_of(const struct gb_member_list *members, const char *student,
                       const char *roster_team, const char *milestone)
{
    for (size_t i = 0; i < members->n; i++)
        if (strcmp(members->row[i].student, student) == 0 &&
            strcmp(members->row[i].milestone, milestone) == 0)
            return members->row[i].submission;
    return roster_team;
}

bool sd_is_team_of(const struct gb_member_list *members, const char *student,
                   const char *roster_team, const char *submission)
{
    bool is = roster_team[0] && strcmp(roster_team, submission) == 0;
    for (size_t i = 0; i < members->n && !is; i++)
        is = strcmp(members->row[i].student, student) == 0 &&
             strcmp(members->row[i].submission, submission) == 0;
    return is;
}
