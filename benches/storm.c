/* Makes a million system calls a second, or as many as it can: reads of one byte of zeros.
 * Usage: storm SECONDS
 * Prints the calls made, and the wall and CPU time they took, as the driver reads them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_PER_MILLISECOND = 1000 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int count, char **arguments)
{
    char byte;
    long calls = 0;
    int zeros = open("/dev/zero", O_RDONLY);
    if (count != 2 || zeros < 0)
        return 2;
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double end = start + atof(arguments[1]), now;
    while ((now = seconds(CLOCK_MONOTONIC)) < end) {
        /* Not ahead of the schedule of a thousand a millisecond; behind it, at full speed. */
        if (calls > (now - start) * 1000 * CALLS_PER_MILLISECOND)
            continue;
        for (int turn = 0; turn < CALLS_PER_MILLISECOND; turn++)
            if (read(zeros, &byte, 1) != 1)
                return 1;
        calls += CALLS_PER_MILLISECOND;
    }
    printf("measured iterations=%ld wall_seconds=%.6f cpu_seconds=%.6f\n", calls, seconds(CLOCK_MONOTONIC) - start,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}
