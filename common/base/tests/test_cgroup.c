/* Tests of control groups of both versions, simulated by files. */
#include "base/cgroup.h"
#include "base/files.h"
#include "base/tests/temp_folder.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

TestSuite(cgroup, .init = temp_folder_make, .fini = temp_folder_remove);

/* Both versions of control groups, and groups that lack the file. */
Test(cgroup, memory_kills_are_read_from_the_own_group)
{
    cr_assert_eq(dir_make(temp_path("memory/slurm/job_7"), NULL), ST_OK);
    cr_assert_eq(dir_make(temp_path("job_8"), NULL), ST_OK);
    static const char v1[] = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
    static const char v2[] = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 1\n";
    temp_file("memory/slurm/job_7/memory.oom_control", v1, sizeof v1 - 1);
    temp_file("job_8/memory.events", v2, sizeof v2 - 1);
    static const struct {
        const char *groups;
        size_t kills;
    } cases[] = {{"5:cpu:/\n4:memory:/slurm/job_7\n0::/\n", 2},
                 {"0::/job_8\n", 1},
                 {"4:memory:/\n0::/\n", 0},
                 {"4:memory:/none\n", 0},
                 {"nonsense\n:\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *groups = temp_file("groups", cases[i].groups, strlen(cases[i].groups));
        cr_expect_eq(cgroup_memory_kills(groups, temp_path("")), cases[i].kills, "%s",
                     cases[i].groups);
    }
    cr_expect_eq(cgroup_memory_kills(temp_path("nowhere"), temp_path("")), 0);
}

static void put(const char *name, const char *text)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(name, '/') - name), name);
    cr_assert_eq(dir_make(temp_path(folder), NULL), ST_OK);
    temp_file(name, text, strlen(text));
}

static const char *groups(const char *text)
{
    return temp_file("groups", text, strlen(text));
}

/* Of 768 MB, 300 are used, 100 of them for files that can be read again; the parent group has
 * less. */
Test(cgroup, memory_is_the_rest_of_the_narrowest_group)
{
    put("v2/job/memory.max", "768000000\n");
    put("v2/job/memory.current", "300000000\n");
    put("v2/job/memory.stat", "anon 7\ninactive_file 100000000\n");
    put("v2/job/step/memory.max", "max\n");
    put("v2/job/step/memory.current", "1\n");
    put("memory/job/memory.limit_in_bytes", "768000000\n");
    put("memory/job/memory.usage_in_bytes", "300000000\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/memory.usage_in_bytes", "5000\n");
    const char *v2 = temp_path("v2");
    cr_expect_eq(cgroup_memory_left_bytes(groups("0::/job/step\n"), v2), 568000000);
    cr_expect_eq(cgroup_memory_left_bytes(groups("0::/job\n"), temp_path("v2")), 568000000);
    cr_expect_eq(cgroup_memory_left_bytes(groups("4:memory:/job\n0::/\n"), temp_path("")),
                 468000000);
    cr_expect_eq(cgroup_memory_left_bytes(groups("4:memory:/\n"), temp_path("")), SIZE_MAX);
    cr_expect_eq(cgroup_memory_left_bytes(groups("4:memory:/docker/1\n"), temp_path("")), SIZE_MAX,
                 "a group that does not exist sets no limit");
    put("v2/job/memory.max", "200000000\n");
    cr_expect_eq(cgroup_memory_left_bytes(groups("0::/job\n"), temp_path("v2")), 0);
}

Test(cgroup, cores_are_the_share_of_time)
{
    put("v2/job/cpu.max", "50000 100000\n");
    put("v2/free/cpu.max", "max 100000\n");
    put("cpu/job/cpu.cfs_quota_us", "300000\n");
    put("cpu/job/cpu.cfs_period_us", "200000\n");
    put("cpu/free/cpu.cfs_quota_us", "-1\n");
    cr_expect_eq(cgroup_cores(groups("0::/job\n"), temp_path("v2")), 0.5);
    cr_expect_eq(cgroup_cores(groups("0::/free\n"), temp_path("v2")), INFINITY);
    cr_expect_eq(cgroup_cores(groups("1:cpu:/job\n"), temp_path("")), 1.5);
    cr_expect_eq(cgroup_cores(groups("1:cpu:/free\n"), temp_path("")), INFINITY);
    cr_expect_eq(cgroup_cores(temp_path("none"), temp_path("")), INFINITY);
}
