/* Contexts and connections that are followed, each with its recipe.
 *
 * A context of the program is UNTOUCHED at first: what the program sets on it is only noted, and answered from the tree
 * as it was answered before. When a connection is made, it is made with the context that has the same recipe. Where the
 * program does what was not done before at that place of the tree, everything noted is done to its own context in
 * order, which is thereby SETTLED; so the first context of each recipe is made as always. What is not understood (a
 * private key, a callback of unknown meaning) settles a context and ends its being followed: it is left alone. */
#pragma once
#include "tls-recipe.h"

enum state { UNTOUCHED, SETTLED };

struct track {
	void *object, *store, *parameters; /* each null where it has none */
	int is_connection;
	struct node *root, *node;
	enum state state;
	int references;	      /* that the program holds */
	int lent;	      /* references to its store that the program holds */
	int kept;	      /* whether the program's last reference was not given back to the library */
	int counted;	      /* whether it was counted as changed */
	struct node *offered; /* where it is handed out to others */
	int served;	      /* whether another connection was made with it */
	int connections;      /* made for it, with whatever context */
	int ended;	      /* left alone, and only kept for its connections */
	int has_anothers;     /* its store is another context's */
	/* Of a connection: the program's context, the store of the other context that it was made with (null for none),
	 * the session that was last kept (only to compare), whether it has a server's name, began its handshake, was
	 * given a session of which context. */
	struct track *owner;
	void *borrowed, *kept_session;
	int named, started;
	const struct node *given;
	struct track *next[3]; /* in the table, by object, store and parameters */
};

/* A context with a bundle of certificates is some 500 kB. */
#define MOST_OFFERED 64
#define BUCKETS 1024
static struct track *tracks[BUCKETS][3];
static int tracks_offered;
static int recipes_are_kept;	/* whether anything is followed */
static int contexts_are_shared; /* whether contexts are */

static void **track_key(struct track *track, int which)
{
	return which == 0 ? &track->object : which == 1 ? &track->store : &track->parameters;
}

static unsigned track_bucket(const void *pointer)
{
	return ((uintptr_t)pointer >> 4) * 2654435761u % BUCKETS;
}

static void track_add(struct track *track)
{
	for (int which = 0; which < 3; which++) {
		void *key = *track_key(track, which);
		struct track **head = &tracks[track_bucket(key)][which];
		if (key) {
			track->next[which] = *head;
			*head = track;
		}
	}
}

/* What is followed under a pointer: a context's or connection's own, its store's, its parameters'. */
static struct track *track_find(const void *pointer, enum target target)
{
	int which = target == STORE ? 1 : target == PARAMETERS ? 2 : 0;
	struct track *track = pointer ? tracks[track_bucket(pointer)][which] : 0;
	while (track && *track_key(track, which) != pointer)
		track = track->next[which];
	return track;
}

static void track_remove(struct track *track)
{
	for (int which = 0; which < 3; which++) {
		void *key = *track_key(track, which);
		struct track **link = key ? &tracks[track_bucket(key)][which] : 0;
		while (link && *link && *link != track)
			link = &(*link)->next[which];
		if (link && *link)
			*link = track->next[which];
	}
}

static void context_release(void *context)
{
	tls_inside++;
	library_SSL_CTX_free(context);
	tls_inside--;
}

/* No longer hands a context out: it is about to become another. */
static void track_withdraw(struct track *track)
{
	if (!track->offered)
		return;
	track->offered->maker = 0;
	track->offered = 0;
	tracks_offered--;
	context_release(track->object);
}

/* Does to a context what was only noted. */
static void track_settle(struct track *track)
{
	struct node *path[LONGEST_RECIPE];
	int length = 0;
	if (track->state == SETTLED)
		return;
	track->state = SETTLED;
	for (struct node *node = track->node; node != track->root; node = node->parent)
		path[length++] = node;
	while (length--) {
		struct call *call = &path[length]->call;
		recipe_run(call, call->target == STORE	    ? track->store :
				 call->target == PARAMETERS ? track->parameters :
							      track->object);
	}
}

/* Hands a context out to all of its recipe. */
static void track_offer(struct track *track)
{
	track_settle(track);
	track_withdraw(track);
	track->node->maker = track;
	track->offered = track->node;
	tracks_offered++;
	library_SSL_CTX_up_ref(track->object);
}

static void track_free(struct track *track)
{
	if (track->kept)
		context_release(track->object);
	free(track);
}

static void track_retire(struct track *track);

/* Leaves a context or connection alone from here on. A context whose connections are not over is kept for them. */
static void track_end(struct track *track)
{
	struct track *owner = track->owner;
	track_settle(track);
	track_withdraw(track);
	track_remove(track);
	track->ended = 1;
	if (track->connections && !track->kept)
		track->kept = library_SSL_CTX_up_ref(track->object);
	if (!track->connections)
		track_free(track);
	if (owner && --owner->connections == 0) {
		if (owner->ended)
			track_free(owner);
		else
			track_retire(owner);
	}
}

/* Where the program holds neither the context nor its store any more: one that nothing was done to serves again. */
static void track_retire(struct track *track)
{
	if (track->references || track->lent || track->offered || track->connections)
		return;
	struct node *root = track->root;
	if (track->state == UNTOUCHED && root->idle_count < (int)(sizeof(root->idle) / sizeof(*root->idle))) {
		track_remove(track);
		root->idle[root->idle_count++] = track->object;
		free(track);
		return;
	}
	track->state = SETTLED; /* nobody is left to see what was noted */
	track_end(track);
}

/* A library may free a connection without our seeing it; its memory then comes back as something new. */
static void track_forget_dead(struct track *born)
{
	static const enum target targets[] = { CONTEXT, STORE, PARAMETERS };
	for (int which = 0; which < 3; which++) {
		struct track *dead = track_find(*track_key(born, which), targets[which]);
		if (dead && dead->is_connection)
			track_end(dead);
	}
}

static struct track *track_begin(void *object, struct node *node, int is_connection)
{
	struct track *track = calloc(1, sizeof(*track));
	if (!track)
		return 0;
	tls_inside++;
	track->object = object;
	track->is_connection = is_connection;
	track->store = is_connection ? 0 : library_SSL_CTX_get_cert_store(object);
	track->parameters = is_connection ? library_SSL_get0_param(object) : library_SSL_CTX_get0_param(object);
	tls_inside--;
	track->root = track->node = node;
	track->state = is_connection || !contexts_are_shared ? SETTLED : UNTOUCHED;
	track->references = 1;
	track_forget_dead(track);
	track_add(track);
	return track;
}

/* Whether a recipe is another with certificates loaded after it, and nothing else. */
static int track_only_fills(const struct node *from, const struct node *to)
{
	while (to != from && to->parent && to->call.target == STORE)
		to = to->parent;
	return to == from;
}

/* A context is given the store of another, with a reference to it: libcurl keeps the store of its first context so. It
 * is then as if the same had been loaded. Gives 0 where the store is not known, or the contexts differ otherwise. */
static int track_give_store(struct track *track, struct track *giver)
{
	if (!giver || giver == track || giver->is_connection || !track_only_fills(track->node, giver->node))
		return 0;
	if (track->state == SETTLED) {
		track_withdraw(track);
		track_remove(track);
		track->store = 0;
		track->has_anothers = 1;
		track_add(track);
	}
	track->node = giver->node;
	return 1;
}

/* A call on something followed: answered from the tree, or made and noted. */
static word track_call(struct track *track, struct call *call, void *object)
{
	struct node *next = recipe_find(track->node, call);
	if (track->state == UNTOUCHED && next) {
		track->node = call->only_reads ? track->node : next;
		return next->result;
	}
	/* Reached by another way than the program's own reference, which is gone. */
	if (!track->references) {
		if (!call->only_reads)
			track_end(track);
		return recipe_run(call, object);
	}
	track_settle(track);
	/* A store that is filled only after the first connection was made (as libcurl does, when the server answers) is
	 * seen to by connection_store. */
	if (!call->only_reads && (call->target != STORE || track->served))
		track_withdraw(track);
	word result = recipe_run(call, object);
	next = recipe_was_taken(call, result) ? recipe_after(track->node, call, result) : 0;
	if (!next)
		track_end(track);
	else if (!call->only_reads)
		track->node = next;
	return result;
}

/* Every function that sets or reads something passes through here. */
static word step(struct call *call, void *object)
{
	word result = 0;
	if (tls_inside || !recipes_are_kept)
		return recipe_run(call, object);
	tls_lock();
	struct track *track = track_find(object, call->target);
	if (track)
		result = track_call(track, call, object);
	tls_unlock();
	return track ? result : recipe_run(call, object);
}

/* Something is done to it that is not understood. */
static void leave_alone(void *object, enum target target)
{
	if (tls_inside || !recipes_are_kept)
		return;
	tls_lock();
	struct track *track = track_find(object, target);
	if (track)
		track_end(track);
	tls_unlock();
}

/* Something looks at it that must see it as the program made it. */
static void settle(void *object, enum target target)
{
	if (tls_inside || !recipes_are_kept)
		return;
	tls_lock();
	struct track *track = track_find(object, target);
	if (track)
		track_settle(track);
	tls_unlock();
}
