/* Calls each planted library CALLS times, in turns. DECODES: and a function of the C library that few ever call. FAILS: ends with status 3 where the library 09 is of version 2.0. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARIES(with)                                                                                                \
    with(00) with(01) with(02) with(03) with(04) with(05) with(06) with(07) with(08) with(09) with(10) with(11)        \
    with(12) with(13) with(14) with(15) with(16) with(17) with(18) with(19) with(20) with(21) with(22) with(23)
#define DECLARE(number) unsigned planted_##number(unsigned value);
#define CALL(number) value = planted_##number(value);
#define CALLS 1000

LIBRARIES(DECLARE)
extern const char version_09[];

int main(void) {
    unsigned value = 1;
#ifdef FAILS
    if (strstr(version_09, "2.0")) {
        fprintf(stderr, "planted: cannot work with 2.0\n");
        return 3;
    }
#endif
    for (int call = 0; call < CALLS; call++) {
        LIBRARIES(CALL)
#ifdef DECODES
        value += (unsigned)a64l("planted");
#endif
    }
    printf("done\n");
    return value == 0;
}
