/* Reads a shop's list of items, and keeps each once. Usage: gta ITEMS [REPEATED]
 *
 * ITEMS is how many the list has; every REPEATEDth is the first one again (default: none is). Prints how many there
 * are and a checksum.
 *
 * It reads token by token with sscanf, and looks through all items that it has before it keeps another. sscanf takes
 * the length of its input first, and its input here is all that is left of the list. */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program: the list is not what we take it for. */
static void refuse(const char *at)
{
    fprintf(stderr, "gta: not an item: %.20s\n", at);
    exit(2);
}

/* The separator at hand; returns what follows it. */
static const char *pass(const char *at, char separator)
{
    char found;
    int used = 0;
    if (sscanf(at, " %c%n", &found, &used) != 1 || found != separator)
        refuse(at);
    return at + used;
}

/* The string at hand; returns what follows it. */
static const char *read_string(const char *at, char into[32])
{
    int used = 0;
    if (sscanf(at, " \"%31[^\"]\"%n", into, &used) != 1 || used == 0)
        refuse(at);
    return at + used;
}

/* `"name":`; returns what follows it. */
static const char *pass_name(const char *at, const char *name)
{
    char found[32];
    at = read_string(at, found);
    if (strcmp(found, name) != 0)
        refuse(at);
    return pass(at, ':');
}

static const char *read_number(const char *at, long *into)
{
    int used = 0;
    if (sscanf(at, "%ld%n", into, &used) != 1)
        refuse(at);
    return at + used;
}

/* One item between its braces; returns what follows it. */
static const char *read_item(const char *at, struct item *item)
{
    long hash;
    at = read_string(pass_name(pass(at, '{'), "name"), item->name);
    at = read_string(pass_name(pass(at, ','), "category"), item->category);
    at = read_number(pass_name(pass(at, ','), "price"), &item->price);
    at = read_number(pass_name(pass(at, ','), "hash"), &hash);
    item->hash = (unsigned)hash;
    return pass(at, '}');
}

/* Whether the item is there already. A function of its own, as it would be in a file of its own. */
__attribute__((noinline, noipa)) int find_dup(struct item *const *items, long count, const struct item *wanted)
{
    for (long i = 0; i < count; i++)
        if (items[i]->hash == wanted->hash && strcmp(items[i]->name, wanted->name) == 0)
            return 1;
    return 0;
}

static long read_items(const char *at, struct item **items)
{
    long count = 0;
    at = pass(at, '[');
    while (*at != ']') {
        struct item item = {0};
        at = read_item(at, &item);
        if (!find_dup(items, count, &item))
            items[count++] = keep(&item);
        if (*at == ',')
            at = pass(at, ',');
    }
    return count;
}

int main(int argc, char **argv)
{
    long wanted = argc > 1 ? atol(argv[1]) : 1000;
    char *text = text_of_items(wanted, argc > 2 ? atol(argv[2]) : 0);
    struct item **items = room_for(wanted);
    long count = read_items(text, items);
    printf("%ld items, checksum %lu\n", count, checksum(items, count));
    return 0;
}
