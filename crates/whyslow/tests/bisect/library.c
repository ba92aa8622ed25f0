/* One of the planted libraries. NUMBER and VERSION are given; what is slow, or missing, is too:
 *
 *   SLEEPS   microseconds slept at every tenth call
 *   BURNS    rounds of arithmetic at every call, besides the few that all take
 *   ROUSED   sleeps only while the library of this number says that it is roused
 *   ROUSES   says so
 *   READS    sleeps as many microseconds as the configuration says, opened by its path
 *   BENEATH  the same, opened beneath the folder it is in
 *   INSIDE   the same, opened by its bare name from inside that folder
 *   EXTRA    needs a library that only the C library's package of the good world has
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define JOIN(one, other) one##other
#define NAMED(name, number) JOIN(name, number)
#define FEW 300

const char NAMED(version_, NUMBER)[] = "planted " VERSION;

int NAMED(rouses_, NUMBER)(void) {
#ifdef ROUSES
    return 1;
#else
    return 0;
#endif
}

#ifdef ROUSED
int NAMED(rouses_, ROUSED)(void);
#endif
#ifdef EXTRA
int extra(int value);
#endif

static FILE *configuration(void) {
#if defined READS
    return fopen("/etc/planted.conf", "r");
#elif defined BENEATH
    int folder = open("/etc", O_RDONLY | O_DIRECTORY);
    int file = openat(folder, "planted.conf", O_RDONLY);
    close(folder);
    return file < 0 ? NULL : fdopen(file, "r");
#elif defined INSIDE
    return chdir("/etc") == 0 ? fopen("planted.conf", "r") : NULL;
#else
    return NULL;
#endif
}

static unsigned pause_of_configuration(void) {
    unsigned pause = 0;
    FILE *file = configuration();
    if (file) {
        if (fscanf(file, "pause %u", &pause) != 1) pause = 0;
        fclose(file);
    }
    return pause;
}

unsigned NAMED(planted_, NUMBER)(unsigned value) {
    static unsigned calls, pause;
    static int is_read;
    unsigned rounds = FEW;
    if (!is_read) pause = pause_of_configuration();
    is_read = 1;
#ifdef BURNS
    rounds += BURNS;
#endif
#ifdef SLEEPS
#ifdef ROUSED
    if (NAMED(rouses_, ROUSED)() && calls % 10 == 0) usleep(SLEEPS);
#else
    if (calls % 10 == 0) usleep(SLEEPS);
#endif
#endif
#ifdef EXTRA
    value = (unsigned)extra((int)value);
#endif
    if (pause && calls % 10 == 0) usleep(pause);
    calls++;
    for (unsigned round = 0; round < rounds; round++) value = value * 1664525u + 1013904223u;
    return value;
}
