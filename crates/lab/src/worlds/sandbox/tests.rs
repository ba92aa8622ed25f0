use super::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A mirror that has nothing, and knows who asked it.
pub struct EmptyMirror {
    pub address: String,
    asked: Receiver<u32>,
}

impl EmptyMirror {
    pub fn start() -> EmptyMirror {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/debian", listener.local_addr().expect("an address"));
        let (says, asked) = channel();
        // It ends with the test's process.
        thread::spawn(move || {
            while let Ok((mut connection, peer)) = listener.accept() {
                if let Some(uid) = owner(peer) {
                    says.send(uid).unwrap_or_default();
                }
                let _ = connection.read(&mut [0; 4096]);
                let _ =
                    connection.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        EmptyMirror { address, asked }
    }

    /// The users that have asked so far, each once.
    pub fn asked_by(&self) -> Vec<u32> {
        let mut users = self.asked.try_iter().collect::<Vec<_>>();
        users.sort_unstable();
        users.dedup();
        users
    }
}

/// The user whose socket has this address, as the kernel says (`/proc/net/tcp`, proc(5)). The table is read in pieces: where
/// other tests open and close sockets meanwhile, a line can be missing, and is there when it is read once more. A socket that its
/// process has closed already has no inode, and 0 as its user, whoever that was.
fn owner(address: SocketAddr) -> Option<u32> {
    let SocketAddr::V4(address) = address else { return None };
    let written = format!("{:08X}:{:04X}", u32::from(*address.ip()).swap_bytes(), address.port());
    (0..100).find_map(|_| {
        let table = std::fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
        let line = table.lines().find(|line| line.split_whitespace().nth(1) == Some(&written))?;
        let has_inode = line.split_whitespace().nth(9)? != "0";
        line.split_whitespace().nth(7).filter(|_| has_inode)?.parse().ok()
    })
}

/// A folder for a cache that is open to all, and the number of apt's own user; none without root's rights, or without apt.
pub fn open_cache() -> Option<(tempfile::TempDir, u32)> {
    if !testing::is_root() {
        return None;
    }
    let Some(user) = User::from_name(USER).expect("passwd") else {
        testing::skip("there is no apt");
        return None;
    };
    let cache = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
    Some((cache, user.uid.as_raw()))
}

#[test]
fn apt_stays_root_only_where_its_user_cannot_come_and_that_is_said() {
    let Some((cache, uid)) = open_cache() else { return };
    let said = std::cell::RefCell::new(String::new());
    let below = |folder: &Path| {
        let sandbox = Sandbox::below(folder);
        sandbox.admit(&|words| said.borrow_mut().push_str(words));
        sandbox.setting().map(|(_, user)| user)
    };
    assert_eq!(below(cache.path()).as_deref(), Some(USER));
    assert_eq!(said.borrow().as_str(), "");
    let made = cache.path().join("downloads");
    Sandbox::below(cache.path()).make_folder(&made).expect("made");
    let found = made.metadata().expect("there");
    assert_eq!((std::os::unix::fs::MetadataExt::uid(&found), found.permissions().mode() & 0o777), (uid, 0o700));
    std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");
    assert_eq!(below(cache.path()).as_deref(), Some("root"));
    assert!(said.borrow().contains("fetched by root itself") && said.borrow().contains("WHYSLOW_CACHE"), "{said:?}");
}
