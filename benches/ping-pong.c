/* Sends 64 bytes over loopback TCP and takes them back, as fast as one thread can.
 * Usage: ping-pong one|two SECONDS
 * one: a thread that owns both ends, the highest rate of calls there is. two: two processes that answer each other.
 * Prints the iterations done, and the wall and CPU time of the measuring process, as the driver reads them. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 64, BATCH = 200 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void require(int succeeded, const char *what)
{
    if (!succeeded) {
        perror(what);
        exit(2);
    }
}

static void connect_pair(int *client, int *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    require(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    require(listen(listener, 1) == 0, "listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    *client = socket(AF_INET, SOCK_STREAM, 0);
    require(connect(*client, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    *server = accept(listener, NULL, NULL);
    require(*server >= 0, "accept");
    close(listener);
    setsockopt(*client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(*server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void echo(int socket)
{
    char message[MESSAGE];
    ssize_t received;
    while ((received = recv(socket, message, sizeof message, 0)) > 0)
        send(socket, message, received, 0);
    _exit(0);
}

int main(int count, char **arguments)
{
    int client, server;
    char message[MESSAGE] = "ping";
    long iterations = 0;
    if (count != 3)
        return 2;
    int two = !strcmp(arguments[1], "two");
    connect_pair(&client, &server);
    if (two && fork() == 0) {
        close(client);
        echo(server);
    }
    int answering = two ? client : server;
    if (two)
        close(server);
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double end = start + atof(arguments[2]);
    do {
        for (int turn = 0; turn < BATCH; turn++) {
            require(send(client, message, sizeof message, 0) == MESSAGE, "send");
            require(recv(answering, message, sizeof message, 0) == MESSAGE, "recv");
        }
        iterations += BATCH;
    } while (seconds(CLOCK_MONOTONIC) < end);
    printf("measured iterations=%ld wall_seconds=%.6f cpu_seconds=%.6f\n", iterations,
           seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}
