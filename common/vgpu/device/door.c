#include "vgpu/device/door.h"

#include "vgpu/device/descriptors.h"
#include "vgpu/device/device_protocol.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_MAX = 64 };

enum st_code door_name_make(struct door_name *name, int door, struct st_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof address;
    char text[VP_NAME_MAX + 1] = "";
    *name = (struct door_name){.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0),
                               .door = door};
    /* binding to an empty address makes Linux choose a name */
    if (name->listener < 0 ||
        bind(name->listener, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path)) ||
        listen(name->listener, WAITING_MAX) ||
        getsockname(name->listener, (struct sockaddr *)&address, &bytes)) {
        const int why = errno;
        door_name_close(name);
        return st_fail_errno(err, why, "cannot create a socket");
    }
    const size_t n =
        bytes - offsetof(struct sockaddr_un, sun_path) - 1; /* without the leading zero */
    memcpy(text, address.sun_path + 1, n < VP_NAME_MAX ? n : VP_NAME_MAX);
    setenv(VP_NAME_VARIABLE, text, 1);
    return ST_OK;
}

static void *answer(void *context)
{
    const struct door_name *name = context;
    for (;;) {
        const int client = accept4(name->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (client < 0)
            return NULL; /* the listener is closed */
        struct ucred peer;
        socklen_t bytes = sizeof peer;
        if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
            peer.uid == geteuid())
            descriptor_send(client, &(struct iovec){"D", 1}, 1, name->door, MSG_DONTWAIT);
        close(client);
    }
}

void door_name_answer(struct door_name *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the main thread handles signals */
    name->answers = pthread_create(&name->thread, NULL, answer, name) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void door_name_close(struct door_name *name)
{
    if (name->listener < 0)
        return;
    shutdown(name->listener, SHUT_RDWR); /* wakes the thread */
    if (name->answers)
        pthread_join(name->thread, NULL);
    close(name->listener);
    unsetenv(VP_NAME_VARIABLE);
    *name = DOOR_NAME_NONE;
}
