//! The page in a real browser: what a colleague looks for is on it, nothing from outside runs in it.

mod browser;
mod convinces;
mod driver;
mod hostile;
mod plain;
mod subject;
