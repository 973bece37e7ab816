/* Sends a request to another machine. */
#include <netinet/in.h>
#include <sys/socket.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = 53, .sin_addr = {0x08080808}};     \
    connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to);
#include "plain.h"
