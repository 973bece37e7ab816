/** @file
 * All descendants of a process, even if they changed their process group or session.
 *
 * Inside a process-id namespace, a process whose parent has ended becomes a child of the space's
 * first process, so that all processes are descendants of that first process. Outside, it becomes a
 * child of the nearest "subreaper", which is the grader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { GR_TREE_MAX = 2048 };

/** Processes, parents before their children. */
struct gr_tree {
    size_t n;
    pid_t pid[GR_TREE_MAX];
};

/** Replaces the tree's contents by a process's children, in the order in which they became its
 * children. */
void gr_tree_children(struct gr_tree *tree, pid_t parent);

/** Adds all descendants of a process that are not in the tree yet. */
void gr_tree_add_below(struct gr_tree *tree, pid_t root);

/** Adds a process and its descendants. */
void gr_tree_add(struct gr_tree *tree, pid_t root);

/** A function that lists the processes again, by calling gr_tree_add() and similar functions. */
typedef void gr_tree_lister(struct gr_tree *tree, void *context);

/** Stops all threads of all processes, including processes started meanwhile, and waits until all
 * are stopped.
 * @return false if they could not be stopped within @p limit_s, because new ones start too fast, or
 * within a minute more, because the machine is busy */
bool gr_tree_freeze(struct gr_tree *tree, gr_tree_lister *list, void *context, double limit_s);

/** Resumes frozen processes. */
void gr_tree_thaw(const struct gr_tree *tree);

/** The processor time of the processes, and of the children for which they have waited. */
double gr_tree_cpu_s(const struct gr_tree *tree);

/** The private memory of the processes: heaps, stacks, page tables, and each process's shared
 * memory beyond @p shared_bytes. */
size_t gr_tree_memory_bytes(const struct gr_tree *tree, size_t shared_bytes);
