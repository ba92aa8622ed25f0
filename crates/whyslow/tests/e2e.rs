//! The built binary from end to end. One program for all of it: each file of its own would link everything once more.
//!
//! What needs root, and what needs a program that is not installed, is skipped, which is counted (`testing::skip`).

mod asked;
mod attach_recording;
mod attached;
mod bisect;
mod errors;
mod exports;
mod feeds;
mod full_disk;
mod governed;
mod help;
mod interpreters;
mod java;
mod killed_roles;
mod left;
mod load;
mod locks;
mod logs;
mod names;
mod page;
mod pcap;
mod pools;
mod readme;
mod resolver;
mod rights;
mod running;
mod schemas;
mod scripts;
mod secrets;
mod stage;
mod steps;
mod stories;
mod story;
mod sums;
mod trials;
mod undo;
mod waits;
mod watch;
