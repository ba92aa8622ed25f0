/* Recipes: how a context or a connection came to be what it is. A recipe is a path in a tree: every call that sets
 * something is an edge with its arguments, and two contexts at one node were made alike, call for call. The node keeps
 * what the call returned, the context that was made that way, and the last session of a connection that was. */
#pragma once
#include "tls-library.h"

/* Every name of a server is a node. Past this the program is left alone. */
#define MOST_NODES 4096
/* A text longer than this belongs to no setting that is made again and again. */
#define LONGEST_ARGUMENT 4096
/* No program sets more than this on one context. */
#define LONGEST_RECIPE 256
#define ARGUMENTS 4

/* Whose setting it is. */
enum target { CONTEXT, STORE, PARAMETERS, CONNECTION };

/* Which results say that the call was taken. */
enum taken { ALWAYS, IF_ONE, IF_ZERO };

/* A number (size 0), or so many bytes. */
struct argument {
	word value;
	size_t size;
};

#define NUMBER(number) { (word)(number), 0 }
#define TEXT(text) { (word)(text), (text) ? strlen((const char *)(text)) + 1 : 0 }
#define BYTES(bytes, length) { (word)(bytes), (bytes) ? (size_t)(length) : 0 }

/* One call: its first three arguments are the function's (after what it is called on), the fourth only identifies. */
struct call {
	const char *name;
	word (*function)(void *object, word, word, word);
	enum target target;
	enum taken taken;
	int only_reads;
	struct argument arguments[ARGUMENTS];
};

struct track;

struct node {
	struct call call;
	word result;
	struct node *parent, *children, *sibling;
	int depth;
	struct track *maker; /* whose context is handed out to all of this recipe; null for none */
	void *session;	     /* of the last connection made by this recipe; null for none */
	const struct node *session_context; /* what its context had become when it was verified */
	int keeps_no_session;
	void *idle[8]; /* of a root: contexts that nothing was set on */
	int idle_count;
};

static struct node recipe_top;
static int recipe_nodes;

static int recipe_same(const struct call *one, const struct call *other)
{
	if (one->function != other->function || strcmp(one->name, other->name))
		return 0;
	for (int i = 0; i < ARGUMENTS; i++) {
		const struct argument *a = &one->arguments[i], *b = &other->arguments[i];
		if (a->size != b->size)
			return 0;
		if (a->size ? memcmp((void *)a->value, (void *)b->value, a->size) : a->value != b->value)
			return 0;
	}
	return 1;
}

static struct node *recipe_find(const struct node *node, const struct call *call)
{
	for (struct node *child = node->children; child; child = child->sibling)
		if (recipe_same(&child->call, call))
			return child;
	return 0;
}

/* Adds a call that was made; null where there is no room. Nodes stay to the end of the program. */
static struct node *recipe_add(struct node *parent, const struct call *call, word result)
{
	size_t size = 0;
	for (int i = 0; i < ARGUMENTS; i++)
		size += call->arguments[i].size;
	if (recipe_nodes >= MOST_NODES || size > LONGEST_ARGUMENT || parent->depth + 1 >= LONGEST_RECIPE)
		return 0;
	struct node *node = calloc(1, sizeof(*node) + size);
	if (!node)
		return 0;
	recipe_nodes++;
	node->call = *call;
	node->result = result;
	char *room = (char *)(node + 1);
	for (int i = 0; i < ARGUMENTS; i++) {
		struct argument *argument = &node->call.arguments[i];
		if (argument->size) {
			memcpy(room, (void *)argument->value, argument->size);
			argument->value = (word)room;
			room += argument->size;
		}
	}
	node->parent = parent;
	node->depth = parent->depth + 1;
	node->sibling = parent->children;
	parent->children = node;
	return node;
}

/* The node after a call, added where it is new. */
static struct node *recipe_after(struct node *node, const struct call *call, word result)
{
	struct node *next = recipe_find(node, call);
	return next ? next : recipe_add(node, call, result);
}

static int recipe_was_taken(const struct call *call, word result)
{
	return call->taken == ALWAYS || (call->taken == IF_ONE ? (int)result == 1 : (int)result == 0);
}

/* Makes the call. */
static word recipe_run(const struct call *call, void *object)
{
	const struct argument *arguments = call->arguments;
	tls_inside++;
	word result = call->function(object, arguments[0].value, arguments[1].value, arguments[2].value);
	tls_inside--;
	return result;
}
