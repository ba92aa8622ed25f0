//! Paths: those of system folders stay, of others the folders that every system has, and the kind of file.

use super::Pseudonyms;

/// Folders whose contents come from a distribution or the kernel.
const SYSTEM: [&str; 20] = [
    "/usr/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/libx32/",
    "/bin/",
    "/sbin/",
    "/proc/",
    "/sys/",
    "/dev/",
    "/etc/ssl/",
    "/etc/ca-certificates/",
    "/etc/pki/",
    "/run/nscd/",
    "/run/systemd/",
    "/run/dbus/",
    "/run/avahi-daemon/",
    "/var/run/nscd/",
    "/var/run/avahi-daemon/",
    // Where compilers say that Rust's library was.
    "/rustc/",
];
/// Folders in these that others fill.
const OTHERS: [&str; 5] = ["/usr/local/", "/usr/src/", "/sys/fs/cgroup/", "/dev/shm/", "/dev/mapper/"];
/// And in those what languages bring along.
const LANGUAGES: [&str; 2] = ["/usr/local/lib/python", "/usr/local/go/"];
/// Below these are packages of anybody's.
const PACKAGES: [&str; 3] = ["/site-packages/", "/dist-packages/", "/gems/"];

/// Files that every system reads to find hosts, users and libraries.
const SETTINGS: [&str; 17] = [
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/timezone",
];

/// Folders that every system has, as they begin; and those that packages of any language lie in, wherever they stand.
const TOP: [&str; 15] =
    ["boot", "data", "dev", "etc", "home", "media", "mnt", "opt", "root", "run", "srv", "sys", "tmp", "usr", "var"];
const SECOND: [&str; 10] = ["bin", "cache", "lib", "local", "log", "run", "sbin", "share", "spool", "tmp"];
const ANYWHERE: [&str; 6] = ["bin", "dist-packages", "lib", "lib64", "site-packages", "src"];

/// What files are, where their names end like this.
const ENDINGS: [&str; 31] = [
    "a", "c", "cc", "cfg", "class", "cnf", "conf", "cpp", "crl", "crt", "css", "db", "go", "h", "html", "jar", "java",
    "js", "json", "key", "log", "pem", "php", "pid", "py", "rb", "rs", "so", "sock", "toml", "txt",
];
/// How libraries and runtimes are called that anybody has.
const LIBRARIES: [&str; 20] = [
    "ld-linux",
    "libasan.",
    "libc.",
    "libc_malloc_debug.",
    "libcrypto.",
    "libgnutls.",
    "libhwasan.",
    "libjvm.",
    "liblsan.",
    "libm.",
    "libmsan.",
    "libnode.",
    "libpthread.",
    "libpython",
    "libruby",
    "libssl.",
    "libstdc++.",
    "libtsan.",
    "libubsan.",
    "libz.",
];

impl Pseudonyms {
    /// A path, or what stands where paths do.
    pub fn path(&self, path: &str) -> String {
        let is_none = path.starts_with(['[', '<']) || path.starts_with("node:") || path.starts_with("anon_inode:");
        let is_pipe = ["pipe:", "socket:"].iter().any(|kind| path.starts_with(kind));
        if is_none || is_pipe || is_system(path) {
            return path.to_string();
        }
        let mut before: Option<&str> = None;
        let is_absolute = path.starts_with('/');
        let parts = path.split('/').enumerate().map(|(place, part)| {
            let stays = match place {
                _ if part.is_empty() || part == "." || part == ".." => true,
                1 if is_absolute => TOP.contains(&part),
                2 if is_absolute && before.is_some_and(|top| ["var", "usr"].contains(&top)) => SECOND.contains(&part),
                _ => ANYWHERE.contains(&part) || is_language(part),
            };
            before = Some(part);
            if stays { part.to_string() } else { self.file_name(part) }
        });
        let shown = parts.collect::<Vec<_>>().join("/");
        self.as_in_sentences(path, &shown);
        shown
    }

    /// The name of a file or folder, its ending kept where that says what it is.
    pub fn file_name(&self, name: &str) -> String {
        if LIBRARIES.iter().any(|library| name.starts_with(library)) && name.contains(".so") {
            return name.to_string();
        }
        let shown = match name.rsplit_once('.') {
            // OpenSSL's names of certificates by the hash of their subject.
            Some((hash, number)) if is_hash(hash, number) => {
                let hash = self.word(hash);
                format!("{}.{number}", &hash[1..9])
            }
            Some((own, ending)) if !own.is_empty() && ENDINGS.contains(&ending) => {
                format!("{}.{ending}", self.word(own))
            }
            _ => self.word(name),
        };
        self.as_in_sentences(name, &shown);
        shown
    }

    /// A control group's path, or something that is no name.
    pub(super) fn scope(&self, scope: &str) -> String {
        match scope.strip_prefix("cgroup:") {
            Some(path) => format!("cgroup:{}", self.path(path)),
            None => scope.to_string(),
        }
    }
}

fn is_system(path: &str) -> bool {
    let within = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let own = within(&SYSTEM) && !within(&OTHERS);
    let languages = within(&LANGUAGES) && !PACKAGES.iter().any(|packages| path.contains(packages));
    // A way out leads anywhere.
    (own || languages || SETTINGS.contains(&path)) && !path.split('/').any(|part| part == "..")
}

/// `python3.11`, in which packages lie: whoever reads the case is to see that they are packages.
fn is_language(part: &str) -> bool {
    part.strip_prefix("python").is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

fn is_hash(hash: &str, number: &str) -> bool {
    let number = number.strip_prefix('r').unwrap_or(number);
    let is_number = !number.is_empty() && number.len() < 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_number
}
