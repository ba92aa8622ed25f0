//! What a connection is looked up by, once a packet: the few bytes of both its ends, hashed in one go.
//!
//! The hasher stays the standard one with its secret: whoever made the capture chose the addresses.

use super::heads::Address;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// Both ends of a connection, the smaller one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Of each end the port, the version of IP, and the address, filled up with 0.
    bytes: [u8; 40],
}

impl Flow {
    /// That of two ends in order.
    pub fn of(ends: [Address; 2]) -> Flow {
        let mut bytes = [0; 40];
        for (end, at) in ends.into_iter().zip([0, 20]) {
            let place = &mut bytes[at..at + 20];
            place[..2].copy_from_slice(&end.port.to_be_bytes());
            match end.ip {
                IpAddr::V4(ip) => {
                    place[2] = 4;
                    place[4..8].copy_from_slice(&ip.octets());
                }
                IpAddr::V6(ip) => {
                    place[2] = 6;
                    place[4..].copy_from_slice(&ip.octets());
                }
            }
        }
        Flow { bytes }
    }
}

impl Hash for Flow {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Of two addresses of 4 bytes the rest is 0.
        let is_short = self.bytes[2] == 4 && self.bytes[22] == 4;
        if is_short {
            state.write(&self.bytes[..8]);
            state.write(&self.bytes[20..28]);
        } else {
            state.write(&self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_the_same_where_both_ends_are() {
        let end = |ip: &str, port| Address { ip: ip.parse().expect("an address"), port };
        let ends = [
            end("10.0.0.1", 80),
            end("10.0.0.1", 81),
            end("10.0.0.2", 80),
            end("::a00:1", 80),
            end("a00:1::", 80),
            end("::", 80),
            end("0.0.0.0", 80),
        ];
        for (one, first) in ends.iter().enumerate() {
            for (other, second) in ends.iter().enumerate() {
                assert_eq!(Flow::of([*first, ends[0]]) == Flow::of([*second, ends[0]]), one == other);
                assert_eq!(Flow::of([ends[0], *first]) == Flow::of([ends[0], *second]), one == other);
            }
        }
    }
}
