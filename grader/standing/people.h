/** @file
 * People, by the names that platforms, rosters and instructors use.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

/** A person; unknown parts are "". */
struct sd_person {
    char name[256], email[256], id[64], sis_id[64];
};

/** Finds a person in the roster: by number, or else by e-mail address, or else by name (with its
 * words in any order, ignoring case, blanks and punctuation). @param[out] odd  "" or the
 * contradiction @return the row, or NULL for none or more than one */
const struct gb_roster *sd_roster_find(const struct gb_roster_list *roster,
                                       const struct sd_person *person, char *odd, size_t room);

/** The same for a word that may be any of these. */
const struct gb_roster *sd_roster_named(const struct gb_roster_list *roster, const char *who,
                                        char *odd, size_t room);

/** The team with which a student hands in a milestone: the platform's, or else the roster's; "" if
 * alone.
 * @param roster_team  the roster's, or "" */
const char *sd_team_of(const struct gb_member_list *members, const char *student,
                       const char *roster_team, const char *milestone);

/** Whether a submission belongs to a team of the student, for any milestone. */
bool sd_is_team_of(const struct gb_member_list *members, const char *student,
                   const char *roster_team, const char *submission);

/** The team with this name, compared like people's names, or NULL. */
const char *sd_roster_team(const struct gb_roster_list *roster, const char *name);
