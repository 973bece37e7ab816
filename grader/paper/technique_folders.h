/** @file
 * Makes a folder for each technique, as later terms of the course require:
 *
 *     DIR/req_1/report.md, report.html    the page, from the template technique.md: six questions
 *     DIR/req_1/conv.cu                   the graded source
 *     DIR/req_1/profile/                  its profile
 *
 * TEMPLATES/techniques.tsv lists the folders (columns folder, milestone, technique).
 */
#pragma once

#include "grader/paper/assemble.h"

/** Makes or renews the folders in request->src->out, and prints what is missing in each. The
 * student's words stay, as in any report; the source and profile/ are those of the last grading.
 * @param request  its sections are the folders or milestones to make; none: the folders of graded
 * milestones, and existing folders
 * @param formats  formats of the pages, a sum of enum pp_format; 0: Markdown and HTML
 * @return ST_BAD_FORMAT if the table is wrong; ST_NOT_FOUND if the table lacks the technique;
 * ST_USAGE if there is nothing to make */
enum st_code pp_techniques_write(const struct pp_request *request, unsigned formats,
                                 struct st_error *err);
