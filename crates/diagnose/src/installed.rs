//! Which files of scripts are a program's own, and which came with its language or were installed for it.

use std::path::Path;

/// What interpreters call lines that are in no file: those that they bring along, and those that a program makes as it runs.
const BUILT_IN: [&str; 4] = ["<frozen", "<internal:", "(eval", "node:"];

/// What PHP calls lines that a program makes as it runs: behind the file and line that made them.
const EVALUATED: &str = " : eval()'d code";

/// Folders of packages that were installed, wherever they are.
const PACKAGES: [&str; 4] = ["/dist-packages/", "/site-packages/", "/gems/", "/node_modules/"];

/// How folders are called that have what a language brings along, right below `lib` or `share`: `/usr/lib/python3.11`,
/// `/usr/share/perl5`, `/usr/lib/x86_64-linux-gnu/perl-base`.
const LANGUAGES: [&str; 4] = ["perl", "php", "python", "ruby"];

/// Whether a script's file came with its language, or was installed for it.
pub fn is_installed(path: &str) -> bool {
    // Composer's folder, which is of a project: others call folders of their own so.
    let is_php = || Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("php"));
    let is_composers = || path.contains("/vendor/") && is_php();
    let mut folders: Vec<&str> = path.split('/').filter(|part| !part.contains("-linux-")).collect();
    folders.pop();
    let is_languages = folders.windows(2).any(|pair| {
        matches!(pair[0], "lib" | "lib64" | "share") && LANGUAGES.iter().any(|language| pair[1].starts_with(language))
    });
    is_languages
        || path.ends_with(EVALUATED)
        || BUILT_IN.iter().any(|name| path.starts_with(name))
        || PACKAGES.iter().any(|part| path.contains(part))
        || is_composers()
}

/// The package that such a file is of: `requests`, `@babel/core`, `guzzlehttp/guzzle`, `json`; a built-in module's own name.
pub fn package(path: &str) -> &str {
    if BUILT_IN.iter().any(|name| path.starts_with(name)) {
        return path;
    }
    let in_folder = |folder: &&str| path.rsplit_once(*folder).map(|(_, inside)| inside);
    if let Some(inside) = PACKAGES.iter().find_map(in_folder) {
        return first_parts(inside, if inside.starts_with('@') { 2 } else { 1 });
    }
    if let Some(inside) = in_folder(&"/vendor/") {
        return first_parts(inside, 2);
    }
    // Below the folder of a language: of a version of it (`ruby/3.1.0`), as a rule.
    let folders = LANGUAGES.iter().filter_map(|language| path.find(&format!("/{language}")).map(|at| &path[at + 1..]));
    let inside = folders.min_by_key(|inside| inside.len()).and_then(|inside| inside.split_once('/'));
    let mut inside = inside.map_or(path, |(_, inside)| inside);
    let is_version = |folder: &str| folder.starts_with(|first: char| first.is_ascii_digit());
    while let Some((_, rest)) = inside.split_once('/').filter(|(folder, _)| is_version(folder)) {
        inside = rest;
    }
    first_parts(inside, 1)
}

/// The first parts of a path, without what tells a file's language.
fn first_parts(path: &str, count: usize) -> &str {
    let end = path.match_indices('/').nth(count - 1).map_or(path.len(), |(at, _)| at);
    let parts = &path[..end];
    if end < path.len() { parts } else { parts.rsplit_once('.').map_or(parts, |(stem, _)| stem) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_file_is_of_a_package() {
        let packages = [
            ("/usr/lib/python3.11/json/encoder.py", "json"),
            ("/usr/lib/python3.11/ssl.py", "ssl"),
            ("/srv/.venv/lib/python3.11/site-packages/requests/api.py", "requests"),
            ("/srv/.venv/lib/python3.11/site-packages/six.py", "six"),
            ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"),
            ("/usr/share/perl/5.36/HTTP/Tiny.pm", "HTTP"),
            ("/usr/lib/ruby/3.1.0/net/http.rb", "net"),
            ("/var/lib/gems/3.1.0/gems/rack-2.2/lib/rack.rb", "rack-2.2"),
            ("node:internal/crypto/pbkdf2", "node:internal/crypto/pbkdf2"),
            ("/srv/shop/node_modules/express/lib/router/index.js", "express"),
            ("/srv/shop/node_modules/@babel/core/lib/index.js", "@babel/core"),
            ("/srv/shop/vendor/guzzlehttp/guzzle/src/Client.php", "guzzlehttp/guzzle"),
        ];
        for (path, name) in packages {
            assert_eq!(package(path), name, "{path}");
        }
    }

    #[test]
    fn what_came_with_a_language_or_was_installed_for_it_is_told_from_the_programs_own() {
        let installed = [
            "/usr/lib/python3.11/ssl.py",
            "/srv/.venv/lib/python3.11/site-packages/requests/api.py",
            "<frozen importlib._bootstrap>",
            "/usr/share/perl/5.36/HTTP/Tiny.pm",
            "/usr/share/perl5/LWP/UserAgent.pm",
            "/usr/lib/x86_64-linux-gnu/perl/5.36/IO/Socket.pm",
            "/usr/lib/x86_64-linux-gnu/perl-base/IO/Select.pm",
            "(eval 6)",
            "/usr/lib/ruby/3.1.0/net/http.rb",
            "/var/lib/gems/3.1.0/gems/rack-2.2/lib/rack.rb",
            "/srv/shop/vendor/bundle/ruby/3.1.0/gems/puma-5.6/lib/puma/server.rb",
            "<internal:kernel>",
            "/srv/shop.php(21) : eval()'d code",
            "/usr/share/php/PEAR.php",
            "node:internal/crypto/pbkdf2",
            "/srv/shop/node_modules/express/lib/router/index.js",
            "/srv/shop/vendor/guzzlehttp/guzzle/src/Client.php",
        ];
        for path in installed {
            assert!(is_installed(path), "{path}");
        }
        let own = [
            "/srv/shop/app.py",
            "client.pl",
            "/srv/shop/lib/Shop/Cart.pm",
            "/srv/ruby/shop.rb",
            "/srv/shop/lib/ruby.rb",
            "/srv/shop/vendor/views.py",
            "/srv/php/shop/index.php",
            "/home/perl/shop.pl",
        ];
        for path in own {
            assert!(!is_installed(path), "{path}");
        }
    }
}
