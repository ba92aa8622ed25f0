/* What makes a recorder's memory grow, for so many seconds: `soak fork|threads|connections|churn SECONDS`.
 *
 * fork         a process after the other, each with its parent's open files
 * threads      ten thousand at once, which wake up now and then
 * connections  a hundred thousand that stay open, as far as descriptors and ports go, then bytes on them
 * churn        as many connections a second as there can be, ten thousand at most */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 10000, OPEN = 50000, A_SECOND = 10000, FILES = 200 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double end;

static void forks(void) {
    for (int i = 0; i < FILES; i++)
        open("/dev/null", O_RDONLY);
    long made = 0;
    while (now() < end) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        made++;
    }
    printf("%ld processes\n", made);
}

static void *sleeper(void *unused) {
    (void)unused;
    while (now() < end)
        usleep(500000);
    return NULL;
}

static void threads(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    long made = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        made += pthread_create(&thread, &attributes, sleeper, NULL) == 0;
    }
    printf("%ld threads\n", made);
    sleeper(NULL);
}

static int listener(struct sockaddr_in *address) {
    int one = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof *address;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listening, (void *)address, sizeof *address) || listen(listening, 4096))
        exit(1);
    getsockname(listening, (void *)address, &length);
    return listening;
}

/* Both ends of a new connection; from addresses of their own, so that ports suffice. */
static int pair(int listening, struct sockaddr_in *address, long number, int *accepted) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + number % 200);
    int socket_ = socket(AF_INET, SOCK_STREAM, 0);
    if (socket_ < 0 || bind(socket_, (void *)&from, sizeof from) || connect(socket_, (void *)address, sizeof *address)) {
        close(socket_);
        return -1;
    }
    *accepted = accept(listening, NULL, NULL);
    return socket_;
}

static void connections(void) {
    struct sockaddr_in address = {0};
    int listening = listener(&address), accepted, last = -1;
    long made = 0;
    while (made < OPEN && now() < end) {
        int socket_ = pair(listening, &address, made, &accepted);
        if (socket_ < 0)
            break;
        last = socket_;
        made++;
    }
    printf("%ld connections, two ends each\n", made);
    while (now() < end) {
        if (last >= 0 && write(last, "x", 1) != 1)
            break;
        usleep(100000);
    }
}

static void churn(void) {
    struct sockaddr_in address = {0};
    int listening = listener(&address), accepted;
    struct linger reset = {.l_onoff = 1};
    double begun = now();
    long made = 0;
    while (now() < end) {
        int socket_ = pair(listening, &address, made, &accepted);
        if (socket_ < 0)
            continue;
        setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        char byte = 'x';
        if (write(socket_, &byte, 1) == 1 && read(accepted, &byte, 1) == 1)
            made++;
        close(socket_);
        close(accepted);
        if (made > (now() - begun) * A_SECOND)
            usleep(1000);
    }
    printf("%ld connections\n", made);
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    struct rlimit files = {.rlim_cur = 2 * OPEN + 100, .rlim_max = 2 * OPEN + 100};
    setrlimit(RLIMIT_NOFILE, &files);
    setvbuf(stdout, NULL, _IOLBF, 0);
    end = now() + atof(words[2]);
    if (!strcmp(words[1], "fork"))
        forks();
    else if (!strcmp(words[1], "threads"))
        threads();
    else if (!strcmp(words[1], "connections"))
        connections();
    else if (!strcmp(words[1], "churn"))
        churn();
    else
        return 2;
    return 0;
}
