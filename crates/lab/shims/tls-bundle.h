/* Certificates parsed once. A bundle is read into a store of ours the first time that a program loads it; whenever it
 * is loaded again, unchanged on disk, its certificates are added to the program's store as they are: the same objects,
 * counted by reference, all of them. What is not a regular file, or does not load, goes the library's way. */
#pragma once
#include "tls-library.h"
#include <sys/stat.h>

#define MOST_BUNDLES 32
/* X509_LOOKUP_ctrl's commands and the file type that means the library's default. */
#define ADD_FOLDER 2
#define ADD_STORE 3
#define DEFAULT_TYPE 3

/* What tells that a file is still the same one. */
struct stamp {
	uint64_t device, inode, size;
	struct timespec changed;
};

struct bundle {
	struct stamp stamp;
	void *store;
};

static struct bundle bundles[MOST_BUNDLES];
static int bundle_count;
static int bundles_are_kept, bundles_are_counted;

static int bundle_stamp(const char *file, struct stamp *stamp)
{
	struct stat status;
	memset(stamp, 0, sizeof(*stamp));
	if (!file || syscall(SYS_newfstatat, AT_FDCWD, file, &status, 0) || !S_ISREG(status.st_mode))
		return 0;
	stamp->device = status.st_dev;
	stamp->inode = status.st_ino;
	stamp->size = status.st_size;
	stamp->changed = status.st_ctim;
	return 1;
}

/* The file's certificates, parsed now or before; null where it does not load. Tells in `known` which of the two. */
static void *bundle_of(const char *file, const struct stamp *stamp, int *known)
{
	for (int i = 0; i < bundle_count; i++) {
		*known = !memcmp(&bundles[i].stamp, stamp, sizeof(*stamp));
		if (*known)
			return bundles[i].store;
	}
	void *store = bundle_count < MOST_BUNDLES ? library_X509_STORE_new() : 0;
	if (store && library_X509_STORE_load_locations(store, file, 0) != 1) {
		library_X509_STORE_free(store);
		return 0;
	}
	if (store)
		bundles[bundle_count++] = (struct bundle){ *stamp, store };
	return store;
}

static int bundle_add(void *store, void *bundle)
{
	void *objects = library_X509_STORE_get0_objects(bundle);
	int taken = 1;
	for (int i = 0; i < library_OPENSSL_sk_num(objects); i++) {
		void *object = library_OPENSSL_sk_value(objects, i);
		void *certificate = library_X509_OBJECT_get0_X509(object);
		void *list = certificate ? 0 : library_X509_OBJECT_get0_X509_CRL(object);
		taken &= certificate ? library_X509_STORE_add_cert(store, certificate) == 1 :
				       list && library_X509_STORE_add_crl(store, list) == 1;
	}
	return taken;
}

/* Adds a file's certificates to a store. Gives 0 where the library had better do it, as when it calls itself (all that
 * is called here is inside once, by the program's own call). */
static int bundle_load(void *store, const char *file)
{
	struct stamp stamp;
	int known = 0, taken = 0;
	if (!bundles_are_kept || tls_inside > 1 || !store || !bundle_stamp(file, &stamp))
		return 0;
	if (bundles_are_counted)
		SEEN();
	tls_lock();
	tls_inside++;
	void *bundle = bundle_of(file, &stamp, &known);
	taken = bundle && bundle_add(store, bundle);
	tls_inside--;
	tls_unlock();
	if (known && taken && bundles_are_counted)
		CHANGED();
	return taken;
}

static word bundle_load_file(void *store, word file, word a, word b)
{
	return bundle_load(store, (const char *)file) || library_X509_STORE_load_file(store, (const char *)file);
}

static word bundle_load_verify_file(void *context, word file, word a, word b)
{
	return bundle_load(library_SSL_CTX_get_cert_store(context), (const char *)file) ||
	       library_SSL_CTX_load_verify_file(context, (const char *)file);
}

static word bundle_load_locations(void *store, word file, word folder, word unused)
{
	if (!bundle_load(store, (const char *)file))
		return library_X509_STORE_load_locations(store, (const char *)file, (const char *)folder);
	return folder ? library_X509_STORE_load_locations(store, 0, (const char *)folder) : 1;
}

static word bundle_load_verify_locations(void *context, word file, word folder, word unused)
{
	if (!bundle_load(library_SSL_CTX_get_cert_store(context), (const char *)file))
		return library_SSL_CTX_load_verify_locations(context, (const char *)file, (const char *)folder);
	return folder ? library_SSL_CTX_load_verify_locations(context, 0, (const char *)folder) : 1;
}

/* The file that the library loads where it is asked for its defaults. */
static const char *bundle_default_file(void)
{
	const char *variable = library_X509_get_default_cert_file_env();
	const char *file = variable ? getenv(variable) : 0;
	return file ? file : library_X509_get_default_cert_file();
}

/* The folder that the environment names for it, which is part of its defaults. */
static const char *bundle_default_folder(void)
{
	const char *variable = library_X509_get_default_cert_dir_env();
	return variable ? getenv(variable) : 0;
}

/* The folders of the library's defaults, which are searched when a certificate is wanted and cost nothing before. */
static int bundle_add_default_folders(void *store)
{
	void *folder = library_X509_STORE_add_lookup(store, library_X509_LOOKUP_hash_dir());
	if (!folder)
		return 0;
	library_X509_LOOKUP_ctrl(folder, ADD_FOLDER, 0, DEFAULT_TYPE, 0);
	void *method = library_X509_LOOKUP_store(); /* OpenSSL 3 */
	void *others = method ? library_X509_STORE_add_lookup(store, method) : 0;
	if (others)
		library_X509_LOOKUP_ctrl(others, ADD_STORE, 0, 0, 0);
	return 1;
}

static word bundle_set_default_paths(void *store, word a, word b, word c)
{
	if (bundle_load(store, bundle_default_file()) && bundle_add_default_folders(store))
		return 1;
	return library_X509_STORE_set_default_paths(store);
}

static word bundle_set_default_verify_paths(void *context, word a, word b, word c)
{
	void *store = library_SSL_CTX_get_cert_store(context);
	if (bundle_load(store, bundle_default_file()) && bundle_add_default_folders(store))
		return 1;
	return library_SSL_CTX_set_default_verify_paths(context);
}
