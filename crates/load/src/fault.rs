//! Names for what goes wrong.

use case::LoadFault;
use std::io::{Error, ErrorKind};

/// What the system says of a connection.
pub(crate) fn of_system(error: &Error) -> LoadFault {
    match error.kind() {
        ErrorKind::ConnectionRefused => LoadFault::Refused,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => LoadFault::Reset,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => LoadFault::Unreachable,
        ErrorKind::TimedOut => LoadFault::ConnectTimedOut,
        // No port is left, or (EMFILE, ENFILE) no descriptor.
        ErrorKind::AddrNotAvailable => LoadFault::Exhausted,
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => LoadFault::Exhausted,
        _ => LoadFault::Other,
    }
}

/// What TLS says.
pub(crate) fn of_tls(error: &rustls::Error) -> LoadFault {
    match error {
        rustls::Error::AlertReceived(_) => LoadFault::TlsAlert,
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => LoadFault::Certificate,
        _ => LoadFault::TlsProtocol,
    }
}
