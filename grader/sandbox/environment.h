/** @file
 * The part of the grader's environment that students' programs see.
 */
#pragma once

/** Keeps the variables that programs need (language, OpenMP, CUDA, sanitizers, library paths), and
 * adds a home folder and a temporary folder in the sandbox. @param from  NAME=VALUE texts, ended by
 * NULL; must outlive the returned list
 * @param path  the value of PATH
 * @return a list to be freed with one free(); NULL: out of memory */
char **gr_environment(char *const *from, const char *path);
