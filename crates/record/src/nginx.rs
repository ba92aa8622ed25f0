//! The system's nginx, which can be put between programs and their servers.

use std::path::Path;

/// Where Debian and others have it, and where it is installed by hand.
const PLACES: [&str; 3] = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"];

/// Where it is; none where it is not installed.
pub fn nginx() -> Option<&'static str> {
    PLACES.into_iter().find(|place| Path::new(place).is_file())
}
