/* Takes switches out of the environment and the command line before the program's own code reads them. The parameter's words are
 * NAME, for a whole variable; NAME=WORD, for a word of its value; and -OPTION>OTHER, for an argument that another one takes the
 * place of. `again` before them puts variables back as they were.
 *
 * Seen counts programs; changed those that began as they were to: without them, or with them as before. Not reached: what libraries
 * read while they are loaded, programs without a loader, and arguments where the C library does not show them to constructors. */
#include "shim.h"

#define LONGEST_VALUE 8192

/* Whether `value` begins with the word, as a word. */
static int begins_with(const char *value, const char *word, size_t length)
{
	return !strncmp(value, word, length) && (value[length] == ' ' || !value[length]);
}

/* Copies a value without a word; 1 where it fits. */
static int copy_without(char *to, const char *value, const char *word, size_t length)
{
	size_t at = 0;
	int is_start = 1;
	while (*value) {
		if (is_start && begins_with(value, word, length)) {
			value += length;
			while (*value == ' ')
				value++;
			continue;
		}
		if (at + 1 >= LONGEST_VALUE)
			return 0;
		is_start = *value == ' ';
		to[at++] = *value++;
	}
	while (at && to[at - 1] == ' ')
		at--;
	to[at] = 0;
	return 1;
}

/* Takes one switch out; 1 where it is not there any more. */
static int take(char *name)
{
	static char left[LONGEST_VALUE];
	char *word = strchr(name, '=');
	int is_gone;
	if (!word)
		return !unsetenv(name);
	*word = 0;
	const char *value = getenv(name);
	/* The only word of its variable, as checkers and allocators have it, or one of several. */
	is_gone = !value || !strcmp(value, word + 1) ? !unsetenv(name) :
						       copy_without(left, value, word + 1, strlen(word + 1)) &&
							       !setenv(name, left, 1);
	*word = '=';
	return is_gone;
}

/* Takes the variable of a switch out and puts a copy in its place, where a runtime without the C library (Go's) finds it as well;
 * 1 where it is as it was. */
static int renew(const char *name)
{
	const char *end = strchr(name, '=');
	size_t length = end ? (size_t)(end - name) : strlen(name);
	for (char **variable = environ; variable && *variable; variable++) {
		if (strncmp(*variable, name, length) || (*variable)[length] != '=')
			continue;
		char *copy = calloc(1, strlen(*variable) + 1);
		if (copy)
			*variable = strcpy(copy, *variable);
		return copy != 0;
	}
	return 1;
}

/* Puts another option in the place of one, which may stand apart from its value (`-X dev`, `-Xdev`); 1 where it was there. */
static int exchange(char *option, int count, char **arguments)
{
	/* The option's own letter. */
	enum { LETTER = 2 };
	char *other = strchr(option, '>');
	int is_done = 0;
	if (!other)
		return 0;
	*other++ = 0;
	for (int i = 1; i < count; i++) {
		int is_apart = i > 1 && strlen(arguments[i - 1]) == LETTER && !strncmp(arguments[i - 1], option, LETTER) &&
			       !strcmp(arguments[i], option + LETTER);
		if (!is_apart && strcmp(arguments[i], option))
			continue;
		arguments[i] = is_apart ? other + LETTER : other;
		is_done = 1;
	}
	return is_done;
}

__attribute__((constructor)) static void begin(int count, char **arguments)
{
	shim_begin("without-switches");
	if (shim_is_inert)
		return;
	SEEN();
	int is_again = 0, is_done = 1;
	char *rest, *word = strtok_r(shim_parameter, " ", &rest);
	if (word && !strcmp(word, "again")) {
		is_again = 1;
		word = strtok_r(0, " ", &rest);
	}
	for (; word; word = strtok_r(0, " ", &rest))
		is_done &= *word == '-' ? exchange(word, count, arguments) : is_again ? renew(word) : take(word);
	if (is_done)
		CHANGED();
}
