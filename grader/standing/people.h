/** @file
 * Finds people by the names that platforms, rosters and instructors use.
 */
#pragma once

#include "grader/gradebook/gradebook.h"

/** A person; unknown members are "". */
struct sd_person {
    char name[256], email[256], id[64], sis_id[64];
};

/** Finds a person in the roster: by number, or else by e-mail address, or else by name (the words
 * in any order, ignoring case, blanks and punctuation). @param[out] odd a description of a
 * contradiction, or "" @return the row; NULL: none, or several */
const struct gb_roster *sd_roster_find(const struct gb_roster_list *roster,
                                       const struct sd_person *person, char *odd, size_t room);

/** As sd_roster_find(), for a word that may be a number, an address or a name. */
const struct gb_roster *sd_roster_named(const struct gb_roster_list *roster, const char *who,
                                        char *odd, size_t room);

/** The team with which a student hands in a milestone: the platform's, or else the roster's; "" if
 * the student works alone. @param roster_team  the student's team in the roster, or "" */
const char *sd_team_of(const struct gb_member_list *members, const char *student,
                       const char *roster_team, const char *milestone);

/** Whether a submission belongs to a team of the student, for any milestone. */
bool sd_is_team_of(const struct gb_member_list *members, const char *student,
                   const char *roster_team, const char *submission);

/** The team with this name, which is compared like people's names; NULL if there is none. */
const char *sd_roster_team(const struct gb_roster_list *roster, const char *name);
