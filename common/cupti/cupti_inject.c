/* libconvlab-cupti.so: records a CUDA program's activities on a real GPU, for vprof.
 *
 *     vprof sets CUDA_INJECTION64_PATH ──▶ the CUDA driver, when it is initialised, loads this
 *     library into the program and calls InitializeInjection()
 *
 *     program's threads ──▶ CUPTI: records in buffers ──▶ buffer_completed(): rows ──▶ the trace
 *
 * Whole rows are appended, so that several processes can share a file and a reader never sees half
 * a row, unless a process dies while writing. Buffers are emptied:
 *
 *   1. every FLUSH_MS by the keeper, our own thread: kill -9 loses only the records since then;
 *   2. when a context ends (cudaDeviceReset);
 *   3. at exit: exit() calls finish(); so does our _exit(), if the library is also preloaded;
 *   4. on a crash: the handler makes the keeper empty them and waits at most CRASH_WAIT_MS,
 *      because the crashed thread may hold any lock. Then the signal has its usual effect.
 *
 * Our own programs can detach CUPTI for a while (convlab_cupti_attach), because CUPTI takes a
 * little time even when it records nothing.
 *
 * A process made by fork() is not recorded: CUDA does not allow it to use the GPU anyway. A process
 * that runs another program is a separate client.
 *
 * The library prints nothing. An error becomes a row of the kind "note", lost records become a row
 * of the kind "lost"; vprof prints them. */
#include "cupti/cupti_kinds.h"
#include "cupti/cupti_rows.h"
#include "trace/gpu_columns.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define BUFFER_BYTES    ((size_t)4 << 20)
#define BUFFERS         8 /* buffers kept for reuse */
#define TEXT_BYTES      ((size_t)1 << 20)
#define TRACE_BYTES_MAX ((uint64_t)960 << 20) /* below the reader's limit */
#define TRACE_BYTES_END ((uint64_t)1 << 20)   /* reserved for the message at the end */
#define FLUSH_MS        100
#define CRASH_WAIT_MS   3000
#define SYNC_WAIT_MS    2000

static struct {
    pid_t pid; /* the recorded process; 0: none */
    int trace; /* descriptor */
    struct cupti_api api;

    struct cupti_kinds kinds;
    bool may_change; /* kernels become concurrent when the program makes a stream */

    pthread_mutex_t lock; /* protects the members below */
    struct cupti_rows rows;
    uint64_t bytes; /* bytes that this process wrote to the trace */
    uint64_t bytes_max;
    uint64_t dropped; /* records dropped by CUPTI */
    uint64_t without_room;
    uint8_t *buffers[BUFFERS];
    size_t buffer_count;

    pthread_mutex_t flushing; /* held while the keeper works */
    atomic_int detaching;     /* detach at the end of the next cudaProfilerStop() */
    uint64_t stopped_ns;      /* after detaching: later activities do not count */
    atomic_int detached;      /* CUPTI must not be called, because a call would attach it */

    pthread_t keeper;
    sem_t wake;
    atomic_int crashed, crash_done; /* flags between the handler and the keeper */
    atomic_int finished;
} s = {.trace = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .flushing = PTHREAD_MUTEX_INITIALIZER};

static uint64_t real_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the trace ------------------------------------------------------------------------------ */

/* Appends the finished rows with a single write(), because other processes append too. */
static void rows_write(void)
{
    size_t done = 0;
    while (done < s.rows.used) {
        ssize_t put = write(s.trace, s.rows.text + done, s.rows.used - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            s.bytes = s.bytes_max; /* the disk is full: only count later rows */
            break;
        }
        done += (size_t)put;
    }
    s.bytes += done;
    s.rows.used = 0;
}

static void note(const char *text)
{
    pthread_mutex_lock(&s.lock);
    cupti_rows_fact(&s.rows, "note", text, 0);
    rows_write();
    pthread_mutex_unlock(&s.lock);
}

/* ---- buffers -------------------------------------------------------------------------------- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = NULL;
    pthread_mutex_lock(&s.lock);
    if (s.buffer_count)
        *buffer = s.buffers[--s.buffer_count];
    pthread_mutex_unlock(&s.lock);
    if (!*buffer)
        *buffer = aligned_alloc(64, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

static void buffer_keep(uint8_t *buffer)
{
    if (s.buffer_count < BUFFERS)
        s.buffers[s.buffer_count++] = buffer;
    else
        free(buffer);
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t size, size_t valid)
{
    (void)size;
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    pthread_mutex_lock(&s.lock);
    while (valid > 0 && s.api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (s.bytes >= s.bytes_max) {
            s.without_room++;
            continue;
        }
        cupti_rows_add(&s.rows, record);
        if (s.rows.used > s.rows.room - CUPTI_ROW_MAX * 16)
            rows_write();
    }
    rows_write();
    if (s.api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        s.dropped += dropped;
    buffer_keep(buffer);
    pthread_mutex_unlock(&s.lock);
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* Waits until the GPU is idle, because running activities have no times yet. Runs in a separate
 * thread, because a kernel may never end. */
static void *synchronize(void *context)
{
    typedef CUresult (*set_current)(CUcontext);
    typedef CUresult (*wait)(void);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    set_current set = driver ? (set_current)dlsym(driver, "cuCtxSetCurrent") : NULL;
    wait all = driver ? (wait)dlsym(driver, "cuCtxSynchronize") : NULL;
    if (set && all && set(context) == CUDA_SUCCESS)
        all();
    return NULL;
}

static void wait_for_gpu(void)
{
    typedef CUresult (*get_current)(CUcontext *);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    get_current get = driver ? (get_current)dlsym(driver, "cuCtxGetCurrent") : NULL;
    CUcontext context = NULL;
    pthread_t thread;
    if (!get || get(&context) != CUDA_SUCCESS || !context ||
        pthread_create(&thread, NULL, synchronize, context))
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SYNC_WAIT_MS / 1000;
    if (pthread_timedjoin_np(thread, NULL, &until))
        pthread_detach(thread);
}

/* Writes all records to the trace and counts the lost ones. */
static void empty_all(void)
{
    if (!atomic_load(&s.detached))
        s.api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&s.lock);
    const struct {
        const char *name;
        uint64_t number;
    } losses[] = {{"records that CUPTI dropped", s.dropped},
                  {"activities that had not ended", s.rows.incomplete},
                  {"records of an unknown kind", s.rows.unknown},
                  {"records that did not fit into the trace", s.without_room}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].number)
            cupti_rows_fact(&s.rows, "lost", losses[i].name, losses[i].number);
    rows_write();
    pthread_mutex_unlock(&s.lock);
}

static void finish(void)
{
    if (s.pid != getpid() || atomic_exchange(&s.finished, 1))
        return;
    if (!atomic_load(&s.detached)) {
        uint64_t now = 0;
        s.api.cuptiGetTimestamp(&now);
        s.rows.last_ns = now;
        wait_for_gpu();
    }
    empty_all();
}

/* For programs that do not call exit(); effective only if the library is preloaded. */
EXPORTED _Noreturn void _exit(int status)
{
    finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

EXPORTED _Noreturn void _Exit(int status)
{
    _exit(status);
}

/* ---- the keeper, and crashes ---------------------------------------------------------------- */

static void *keep(void *unused)
{
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* signals are for the program's own threads */
    bool quiet = false;
    while (!atomic_load(&s.finished)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += FLUSH_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        sem_timedwait(&s.wake, &until);
        if (atomic_load(&s.crashed)) {
            empty_all();
            atomic_store(&s.crash_done, 1);
            break;
        }
        /* While recording is off, the program must not be disturbed: buffers are emptied only
         * once. */
        const bool on = atomic_load(&s.kinds.on);
        pthread_mutex_lock(&s.flushing);
        if ((on || !quiet) && !atomic_load(&s.detaching))
            s.api.cuptiActivityFlushAll(0);
        pthread_mutex_unlock(&s.flushing);
        quiet = !on;
    }
    return NULL;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,  SIGABRT, SIGTRAP, SIGSYS,
                              SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGPIPE};

/* A signal handler may call few functions, so the keeper does the work. */
static void on_crash(int number)
{
    if (s.pid == getpid() && !atomic_load(&s.finished)) {
        if (!atomic_exchange(&s.crashed, 1))
            sem_post(&s.wake);
        for (int ms = 0; ms < CRASH_WAIT_MS && !atomic_load(&s.crash_done); ms++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Catches crashes, except signals that the program handles itself. */
static void catch_crashes(void)
{
    static char stack[1 << 16]; /* the program's stack may have overflowed */
    stack_t old, ours = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
        sigaltstack(&ours, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction was, action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
        sigfillset(&action.sa_mask);
        if (sigaction(crashes[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(crashes[i], &action, NULL);
    }
}

/* ---- the beginning -------------------------------------------------------------------------- */

static void check(CUptiResult result, const char *what)
{
    if (result == CUPTI_SUCCESS)
        return;
    const char *why = NULL;
    char text[256];
    s.api.cuptiGetResultString(result, &why);
    snprintf(text, sizeof text, "CUPTI: %s: %s (%d)", what, why ? why : "unknown error",
             (int)result);
    note(text);
}

static int is_start(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API
               ? id == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
               : id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
}

/* Handles cudaProfilerStop() and cudaProfilerStart(), which call the driver's functions. Neither
 * call is recorded, only its time: --profile-from-start off needs it when the trace is read. */
static void switched(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site)
{
    const bool on = is_start(domain, id);
    if (site != (on ? CUPTI_API_EXIT : CUPTI_API_ENTER))
        return;
    if (!on)
        cupti_kinds_switch(&s.kinds, false);
    uint64_t now = s.stopped_ns;
    if (on || !atomic_load(&s.detaching))
        s.api.cuptiGetTimestamp(&now);
    pthread_mutex_lock(&s.lock);
    cupti_rows_switch(&s.rows, on, now);
    rows_write();
    pthread_mutex_unlock(&s.lock);
    if (on)
        cupti_kinds_switch(&s.kinds, true);
}

/* Detaches CUPTI. This is allowed only at the end of a runtime call, while no call of ours is
 * active.
 */
static void detach(void)
{
    wait_for_gpu();
    s.api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    atomic_store(&s.detached, 1);
    check(s.api.cuptiFinalize(), "detaching");
    s.rows.number_before = s.rows.number_last;
}

static void CUPTIAPI called_back(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)unused;
    if (s.pid != getpid())
        return;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
        switched(domain, id, ((const CUpti_CallbackData *)data)->callbackSite);
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && !is_start(domain, id) &&
        ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT &&
        atomic_load(&s.detaching))
        detach();
    if (domain != CUPTI_CB_DOMAIN_RESOURCE)
        return;
    switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        s.api.cuptiActivityFlushAll(0);
        break;
    case CUPTI_CBID_RESOURCE_STREAM_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
        if (s.may_change)
            cupti_kinds_concurrent(&s.kinds);
        break;
    default:
        break;
    }
}

/* Each process appends a byte: the resulting size is its number. */
static int client_number(const char *path)
{
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    off_t number = fd >= 0 && write(fd, ".", 1) == 1 ? lseek(fd, 0, SEEK_CUR) : 1;
    if (fd >= 0)
        close(fd);
    return number > 0 ? (int)number : 1;
}

/* Writing beyond the file size limit would end the process. */
static uint64_t room_for_trace(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur > TRACE_BYTES_MAX)
        return TRACE_BYTES_MAX;
    return most.rlim_cur > TRACE_BYTES_END ? most.rlim_cur - TRACE_BYTES_END : 0;
}

static void subscribe(void)
{
    static const struct {
        CUpti_CallbackDomain domain;
        CUpti_CallbackId id;
    } callbacks[] = {
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_CREATED},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
        {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}};
    CUpti_SubscriberHandle subscriber;
    check(s.api.cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called_back, NULL), "subscribing");
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        s.api.cuptiEnableCallback(1, subscriber, callbacks[i].domain, callbacks[i].id);
    check(s.api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed), "buffers");
}

static void record(void)
{
    const char *kernels = getenv(GPU_ENV_KERNELS), *from_start = getenv(GPU_ENV_FROM_START);
    subscribe();
    /* While the program has only the default stream, kernels cannot overlap. */
    s.may_change = kernels && strcmp(kernels, "auto") == 0;
    cupti_kinds_begin(&s.kinds, &s.api, check, !kernels || strcmp(kernels, "on") == 0,
                      !from_start || strcmp(from_start, "off") != 0);
}

EXPORTED void convlab_cupti_attach(int on);

/** For our own programs (trace/recorded.h). @param on  0: the next cudaProfilerStop() detaches
 * CUPTI, so that the program runs as if not profiled, and records from now until then do not count;
 * 1: attaches CUPTI again, which then waits for cudaProfilerStart(). */
EXPORTED void convlab_cupti_attach(int on)
{
    if (s.pid != getpid() || !s.api.cuptiFinalize || atomic_load(&s.finished))
        return;
    pthread_mutex_lock(&s.flushing); /* the keeper is idle and cannot start new work */
    if (on && atomic_exchange(&s.detached, 0))
        subscribe();
    if (!on && !atomic_load(&s.detached))
        s.api.cuptiGetTimestamp(&s.stopped_ns);
    atomic_store(&s.detaching, !on);
    pthread_mutex_unlock(&s.flushing);
}

EXPORTED int InitializeInjection(void);

/** Called by the CUDA driver when a program initialises it. @return 1, always: the program must
 * continue. */
EXPORTED int InitializeInjection(void)
{
    const char *path = getenv(GPU_ENV_TRACE), *cupti = getenv(GPU_ENV_CUPTI),
               *start = getenv(GPU_ENV_START);
    if (s.pid || !path)
        return 1;
    s.trace = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    s.bytes_max = room_for_trace();
    s.rows.room = TEXT_BYTES;
    s.rows.text = malloc(TEXT_BYTES);
    s.rows.client = client_number(getenv(GPU_ENV_CLIENTS));
    s.rows.api = &s.api;
    if (s.trace < 0 || !s.rows.text || sem_init(&s.wake, 0, 0))
        return 1;
    cupti_rows_fact(&s.rows, "process", program_invocation_short_name, (uint64_t)getpid());
    rows_write();
    char why[256];
    if (!cupti_api_load(&s.api, cupti ? cupti : "libcupti.so.13", why, sizeof why)) {
        note(why);
        return 1;
    }
    uint64_t now = 0;
    s.api.cuptiGetTimestamp(&now);
    const uint64_t since = start ? real_time_ns() - strtoull(start, NULL, 10) : 0;
    s.rows.zero_ns = now > since ? now - since : 0;
    record();
    s.pid = getpid();
    atexit(finish);
    at_quick_exit(finish);
    catch_crashes();
    if (pthread_create(&s.keeper, NULL, keep, NULL))
        note(
            "cannot start the thread that empties CUPTI's buffers: only programs that end normally are recorded completely");
    return 1;
}
