/** @file
 * People, as platforms, rosters and instructors call them.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

/** Somebody; "" what is not said. */
struct sd_person {
    char name[256], email[256], id[64], sis_id[64];
};

/** Finds a person in the roster: by their number, else e-mail address, else name (in any order of
 * its words, without regard to case, blanks and punctuation).
 * @param[out] odd  "" or what does not agree
 * @return the row, or NULL: nobody, or more than one */
const struct gb_roster *sd_roster_find(const struct gb_roster_list *roster,
                                       const struct sd_person *person, char *odd, size_t room);

/** The same for a word that may be any of these. */
const struct gb_roster *sd_roster_named(const struct gb_roster_list *roster, const char *who,
                                        char *odd, size_t room);

/** The team with which a student hands in a milestone: as the platform said, else as the roster says; "" if alone.
 * @param roster_team  the roster's, or "" */
const char *sd_team_of(const struct gb_member_list *members, const char *student,
                       const char *roster_team, const char *milestone);

/** Whether a submission is that of a team in which the student is, for any milestone. */
bool sd_is_team_of(const struct gb_member_list *members, const char *student,
                   const char *roster_team, const char *submission);

/** The team of this name, compared as people's names are, or NULL. */
const char *sd_roster_team(const struct gb_roster_list *roster, const char *name);
