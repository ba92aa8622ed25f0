/* Keeps each algorithm that OpenSSL 3 has looked up by its name, and hands it out again: EVP_MD_fetch and its kin, called by the
 * program or by the library itself, where that calls them through the linker's table (Debian's does).
 *
 * Changed counts look-ups that were spared. What may change their result (providers that come or go, default properties) makes
 * all be looked up anew; what was kept stays referenced. */
#include "shim.h"

#define MOST 64
#define LONGEST 48

typedef void *fetch(void *context, const char *name, const char *properties);
typedef int up_ref(void *algorithm);

struct kept {
	fetch *kind;
	void *context, *algorithm;
	char name[LONGEST], properties[LONGEST];
};

static struct kept kept[MOST];
static unsigned count, generation, is_taken;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("kept-algorithms");
}

static void take(void)
{
	while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
		;
}

static void give(void)
{
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

static void forget(void)
{
	take();
	count = 0;
	generation++;
	give();
}

/* Must be called with the table taken. */
static struct kept *find(fetch *kind, void *context, const char *name, const char *properties)
{
	for (unsigned i = 0; i < count; i++)
		if (kept[i].kind == kind && kept[i].context == context && !strcmp(kept[i].name, name) &&
		    !strcmp(kept[i].properties, properties))
			return &kept[i];
	return 0;
}

/* Keeps one, with a reference of our own. */
static void keep(fetch *kind, up_ref *refer, void *context, const char *name, const char *properties, void *algorithm, unsigned since)
{
	take();
	if (since == generation && count < MOST && !find(kind, context, name, properties) && refer(algorithm) == 1) {
		struct kept *one = &kept[count++];
		one->kind = kind;
		one->context = context;
		one->algorithm = algorithm;
		memcpy(one->name, name, strlen(name) + 1);
		memcpy(one->properties, properties, strlen(properties) + 1);
	}
	give();
}

static void *looked_up(fetch *real, up_ref *refer, void *context, const char *name, const char *properties)
{
	const char *asked = properties ? properties : "";
	SEEN();
	if (shim_is_inert || !refer || !name || strlen(name) >= LONGEST || strlen(asked) >= LONGEST)
		return real(context, name, properties);
	take();
	unsigned since = generation;
	struct kept *known = find(real, context, name, asked);
	void *algorithm = known && refer(known->algorithm) == 1 ? known->algorithm : 0;
	give();
	if (algorithm) {
		CHANGED();
		return algorithm;
	}
	algorithm = real(context, name, properties);
	if (algorithm)
		keep(real, refer, context, name, asked, algorithm, since);
	return algorithm;
}

#define FETCHES(kind)                                                                                    \
	EXPORT void *EVP_##kind##_fetch(void *context, const char *name, const char *properties)         \
	{                                                                                                \
		static up_ref *refer;                                                                    \
		REAL(fetch *, "EVP_" #kind "_fetch");                                                    \
		if (!refer)                                                                              \
			refer = (up_ref *)shim_next("EVP_" #kind "_up_ref");                             \
		return real ? looked_up(real, refer, context, name, properties) : 0;                     \
	}

FETCHES(MD)
FETCHES(CIPHER)
FETCHES(MAC)
FETCHES(KDF)
FETCHES(KEYMGMT)
FETCHES(SIGNATURE)
FETCHES(ASYM_CIPHER)
FETCHES(KEYEXCH)

/* What may change which algorithm a name means. Its result fits a register: a pointer or a number. */
#define FORGETS(name)                                              \
	EXPORT long name(void *a, const void *b, long c)           \
	{                                                          \
		typedef long function(void *, const void *, long); \
		REAL(function *, #name);                           \
		forget();                                          \
		long result = real ? real(a, b, c) : 0;            \
		forget();                                          \
		return result;                                     \
	}

FORGETS(OSSL_PROVIDER_load)
FORGETS(OSSL_PROVIDER_try_load)
FORGETS(OSSL_PROVIDER_unload)
FORGETS(OSSL_PROVIDER_add_builtin)
FORGETS(EVP_set_default_properties)
FORGETS(EVP_default_properties_enable_fips)
FORGETS(OSSL_LIB_CTX_free)
FORGETS(OSSL_LIB_CTX_load_config)
