//! How TLS is spoken: versions, resumption, and whom to trust.

use crate::address::Scheme;
use crate::failure::LoadFailure;
use crate::plan::Secured;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The settings that all connections of a load share, and with them its sessions.
pub(crate) fn settings(secured: &Secured, scheme: Scheme) -> Result<ClientConfig, LoadFailure> {
    settings_of(ring::default_provider(), secured, scheme)
}

/// The settings of a client that meets many servers once each: it offers AES-128 first, as browsers do, since SHA-256, which goes with
/// it, takes less to compute than SHA-384, and a handshake that goes on with a session is little else than hashes.
pub(crate) fn light_settings(secured: &Secured) -> Result<ClientConfig, LoadFailure> {
    let mut provider = ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    settings_of(provider, secured, Scheme::Https)
}

fn settings_of(provider: CryptoProvider, secured: &Secured, scheme: Scheme) -> Result<ClientConfig, LoadFailure> {
    let provider = Arc::new(provider);
    let versions = match secured.version.as_deref() {
        Some("1.2") => &[&TLS12][..],
        Some(_) => &[&TLS13],
        None => &[&TLS13, &TLS12],
    };
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
    let builder = builder.map_err(|error| LoadFailure::Tls(error.to_string()))?;
    let trusts = match (secured.trusts_all, scheme) {
        (true, _) => Some(Trust::All),
        // Gemini has no authorities: whoever was met first is trusted from then on.
        (false, Scheme::Gemini) if secured.authorities.is_none() => Some(Trust::First(Mutex::default())),
        _ => None,
    };
    let mut settings = match trusts {
        Some(trust) => {
            let verifier = Arc::new(Verifier { trust, provider });
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        None => builder.with_root_certificates(authorities(secured)?).with_no_client_auth(),
    };
    if scheme == Scheme::H2 {
        settings.alpn_protocols = vec![b"h2".to_vec()];
    }
    if secured.full_only {
        settings.resumption = Resumption::disabled();
    }
    Ok(settings)
}

/// The settings for other clients of HTTP: the system's authorities are trusted, or those in a file instead.
///
/// # Errors
/// Where that file holds none.
pub fn client_settings(authorities: Option<&Path>) -> Result<ClientConfig, LoadFailure> {
    let secured = Secured { authorities: authorities.map(Path::to_path_buf), ..Secured::default() };
    settings(&secured, Scheme::Https)
}

fn authorities(secured: &Secured) -> Result<RootCertStore, LoadFailure> {
    let mut store = RootCertStore::empty();
    let certificates = match &secured.authorities {
        None => rustls_native_certs::load_native_certs().certs,
        Some(file) => {
            let unread = |error: String| LoadFailure::Authorities { file: file.clone(), error };
            let read = CertificateDer::pem_file_iter(file).map_err(|error| unread(error.to_string()))?;
            read.collect::<Result<Vec<_>, _>>().map_err(|error| unread(error.to_string()))?
        }
    };
    store.add_parsable_certificates(certificates);
    match (store.is_empty(), &secured.authorities) {
        (true, Some(file)) => {
            Err(LoadFailure::Authorities { file: file.clone(), error: "it holds no certificate".into() })
        }
        _ => Ok(store),
    }
}

/// Who is trusted without an authority.
#[derive(Debug)]
enum Trust {
    All,
    First(Mutex<Option<Vec<u8>>>),
}

/// Checks that the server has the key of its certificate, and of the certificate only what [`Trust`] says.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Trust::First(known) = &self.trust {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.get_or_insert_with(|| certificate.to_vec()).as_slice() != certificate.as_ref() {
                return Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure));
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
