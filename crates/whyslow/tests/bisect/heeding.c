/* Sleeps as many microseconds as PLANTED_PAUSE says, a hundred times, among a little arithmetic. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    const char *text = getenv("PLANTED_PAUSE");
    unsigned pause = text ? (unsigned)atoi(text) : 0, value = 1;
    for (int call = 0; call < 100; call++) {
        for (int round = 0; round < 200000; round++) value = value * 1664525u + 1013904223u;
        if (pause) usleep(pause);
    }
    printf("done\n");
    return value == 0;
}
