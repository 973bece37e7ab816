/** @file
 * The command line of grader class.
 */
#pragma once

#include "grader/class/class.h"

/** Parses the command line; on --help or wrong usage, prints and exits (status 2 for wrong
 * usage). */
void cl_options_parse(struct cl_options *options, int argc, char **argv);

/** Looks up the given milestones: folders, files, points. */
enum st_code cl_options_milestones(struct cl_options *options, struct st_error *err);

/** @return the options for grading milestone number @p m: its sizes, and --quick. */
struct gr_options cl_options_of(const struct cl_options *options, size_t m);

enum { CL_PASSED_WORDS = 11 };

/** Lists the options that are passed to a grading unchanged, as words. @param cuda  whether to pass
 * the device and its engine, which the CPU milestone does not accept. @param images  buffer for the
 * sizes. @return the number of words */
size_t cl_options_passed(const struct cl_options *options, bool cuda, char images[GR_IMAGES_CHARS],
                         const char *words[CL_PASSED_WORDS]);

/** Fills in flag: the parts of the command line that change a grade's checks. Replaces files that
 * the command line names by copies, with a hash of their contents in the flag.
 * @param files  GRADEBOOK.files */
enum st_code cl_options_flags(struct cl_options *options, const char *files, struct st_error *err);

/** The names of the options that the gradebook keeps, without dashes. */
extern const char *const cl_kept_names[CL_KEPT];

/** The prefix of a profile's name or path in --device. */
#define CL_VIRTUAL "virtual:"

/** Adopts the options of the milestones' earlier gradings, fills in flags, and stores the options.
 * @return ST_USAGE if the command line has different options that --change does not name. */
enum st_code cl_options_keep(struct cl_options *options, struct gradebook *book, const char *files,
                             struct st_error *err);
