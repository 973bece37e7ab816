/** @file
 * What students' programs get to see of the grader's environment.
 */
#pragma once

/** Keeps the variables that programs need (language, OpenMP, CUDA, sanitizers, where libraries
 * are), and adds a home and a temporary folder of the sandbox's.
 * @param from  NAME=VALUE texts, ended by NULL; must outlive the list
 * @param path  the value of PATH
 * @return a list to be freed with one free(); NULL without memory */
char **gr_environment(char *const *from, const char *path);
