/* Thread block clusters of a launch: their size, the driver's checks, and how many fit on the
 * GPU. */
#include "vgpu/device/client_session.h"
#include "vgpu/device/cluster.h"
#include "vgpu/probe/occupancy.h"

/* Every GPU with clusters supports 8 blocks per cluster; a program must enable larger clusters. */
#define PORTABLE_MOST 8
#define CLUSTER_MOST  16
#define CLUSTER_MAJOR 9 /* compute capability */
/* Groups of pairs of multiprocessors (GPCs of an H100 or H200). A cluster runs within one group. */
#define GROUPS 8

static uint64_t blocks_of(struct vg_dim d)
{
    return (uint64_t)d.x * d.y * d.z;
}

static bool is_multiple(struct vg_dim grid, struct vg_dim cluster)
{
    return grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

struct vg_dim cluster_unpack(uint64_t packed)
{
    return (struct vg_dim){packed & 0xffff, packed >> 16 & 0xffff, packed >> 32 & 0xffff};
}

/* @return the cluster size that the kernel itself requires; x 0: none. */
static struct vg_dim required(const struct kernel *kernel, const struct vg_kernel_attributes *a)
{
    return a->cluster.x ? a->cluster : kernel->required_cluster;
}

int cluster_settle(const struct session *s, const struct kernel *kernel,
                   const struct vg_kernel_attributes *a, struct vg_dim *grid,
                   struct vg_dim *cluster)
{
    const struct vg_profile *p = &s->shared->profile;
    const struct vg_dim own = required(kernel, a);
    const char *name = kernel->name;
    struct vg_dim c = *cluster;
    if (!c.x)
        c = own;
    if (!c.x) {
        if (!a->explicit_cluster && !kernel->must_set_cluster)
            return VP_OK;
        say("launch of %s refused: the launch must state the size of the kernel's clusters (cudaLaunchAttributeClusterDimension)",
            name);
        return VP_INVALID_CLUSTER_SIZE;
    }
    *cluster = c;
    if (a->blocks_are_clusters)
        *grid = (struct vg_dim){grid->x * c.x, grid->y * c.y, grid->z * c.z};
    const uint64_t blocks = blocks_of(c);
    if (p->compute_major < CLUSTER_MAJOR && blocks > 1) {
        say("launch of %s refused: thread block clusters need compute capability %d.0, this GPU has %d.%d",
            name, CLUSTER_MAJOR, p->compute_major, p->compute_minor);
        return VP_INVALID_CLUSTER_SIZE;
    }
    if (!c.y || !c.z || (own.x && (own.x != c.x || own.y != c.y || own.z != c.z))) {
        say("launch of %s refused: clusters of (%u,%u,%u) blocks; the kernel requires (%u,%u,%u)",
            name, c.x, c.y, c.z, own.x, own.y, own.z);
        return VP_INVALID_CLUSTER_SIZE;
    }
    const uint64_t most = a->max_cluster                 ? (uint64_t)a->max_cluster
                          : kernel->non_portable_cluster ? CLUSTER_MOST
                                                         : PORTABLE_MOST;
    if (blocks > most || blocks > CLUSTER_MOST) {
        say("launch of %s refused: clusters of %llu blocks, at most %llu (hint: up to %d after cudaFuncSetAttribute(..., cudaFuncAttributeNonPortableClusterSizeAllowed, 1))",
            name, (unsigned long long)blocks, (unsigned long long)most, CLUSTER_MOST);
        return VP_INVALID_CLUSTER_SIZE;
    }
    if (!is_multiple(*grid, c)) {
        say("launch of %s refused: a grid of (%u,%u,%u) blocks is not a multiple of its clusters of (%u,%u,%u)",
            name, grid->x, grid->y, grid->z, c.x, c.y, c.z);
        return VP_INVALID_CLUSTER_SIZE;
    }
    return VP_OK;
}

/* @return how many clusters of @p blocks blocks are resident, if a multiprocessor holds @p resident
 * blocks. */
static int active_clusters(const struct vg_profile *p, int resident, uint64_t blocks)
{
    const int pairs = p->multiprocessors / 2;
    int sum = 0;
    for (int i = 0; i < GROUPS; i++)
        sum += (int)((uint64_t)(2 * (pairs / GROUPS + (i < pairs % GROUPS)) * resident) / blocks);
    return sum;
}

SESSION_OP(CLUSTERS)
{
    const uint64_t *a = x->request.a;
    struct kernel *kernel = handles_get(&s->kernels, a[0]);
    struct vg_dim cluster = cluster_unpack(a[3]), grid = cluster_unpack(a[4]);
    if (!kernel)
        return VP_INVALID_DEVICE_FUNCTION;
    if (a[1] == 0 || a[1] > INT32_MAX)
        return VP_INVALID_VALUE;
    struct vg_kernel_attributes attributes;
    session_registers_settle(s, kernel, &attributes);
    const struct vg_profile *p = &s->shared->profile;
    const int resident = a[2] <= vg_kernel_dynamic_shared_most(kernel->kernel)
                             ? occupancy_blocks(p, &attributes, (int)a[1], a[2])
                             : 0;
    uint64_t most = kernel->non_portable_cluster ? CLUSTER_MOST : PORTABLE_MOST;
    while (most > 1 && (p->compute_major < CLUSTER_MAJOR || !active_clusters(p, resident, most)))
        most /= 2;
    x->reply.r[1] = resident ? most : 0;
    const int error = a[3] ? cluster_settle(s, kernel, &attributes, &grid, &cluster) : VP_OK;
    if (!error && cluster.x)
        x->reply.r[0] = (uint64_t)active_clusters(p, resident, blocks_of(cluster));
    return error;
}
