/* Adds up the prices of a shop's list of items in one pass. Usage: linear ITEMS */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    long count = 0, sum = 0;
    char *end, *at = text_of_items(argc > 1 ? atol(argv[1]) : 1000, 0);
    while ((at = strstr(at, "\"price\": ")) != NULL) {
        sum += strtol(at + strlen("\"price\": "), &end, 10);
        count++;
        at = end;
    }
    printf("%ld items, %ld in all\n", count, sum);
    return 0;
}
