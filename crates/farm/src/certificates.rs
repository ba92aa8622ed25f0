//! An authority of our own, and a certificate for each name, made when it is first asked for.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring::sign::any_ecdsa_type;
use rustls::crypto::ring::{self, default_provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// An authority; whatever name a client asks for has a certificate of it.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// All names share one key: what clients check is the certificate.
    key: KeyPair,
    signing: Arc<dyn SigningKey>,
    made: Mutex<HashMap<String, Arc<CertifiedKey>>>,
    /// Its own certificate, as PEM.
    pub pem: String,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// Where there are no random numbers.
    pub fn new() -> Result<Authority, rcgen::Error> {
        let mut about = CertificateParams::new(Vec::new())?;
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        about.distinguished_name.push(DnType::CommonName, "whyslow farm");
        about.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let own = KeyPair::generate()?;
        let pem = about.self_signed(&own)?.pem();
        let key = KeyPair::generate()?;
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let signing = any_ecdsa_type(&der).map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        Ok(Authority { issuer: Issuer::new(about, own), key, signing, made: Mutex::default(), pem })
    }

    /// How servers of this authority speak TLS. Sessions are resumed by tickets.
    ///
    /// # Errors
    /// Where TLS cannot be set up.
    pub fn settings(self) -> io::Result<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let mut settings = builder.with_no_client_auth().with_cert_resolver(Arc::new(self));
        settings.ticketer = ring::Ticketer::new().map_err(io::Error::other)?;
        settings.send_tls13_tickets = 1;
        Ok(settings)
    }

    fn certify(&self, name: &str) -> Result<CertifiedKey, rcgen::Error> {
        let mut about = CertificateParams::new(vec![name.to_string()])?;
        about.distinguished_name.push(DnType::CommonName, name);
        let certificate: CertificateDer<'static> = about.signed_by(&self.key, &self.issuer)?.into();
        Ok(CertifiedKey::new(vec![certificate], self.signing.clone()))
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Authority")
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_string();
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        if known.is_some() {
            return known;
        }
        let made = Arc::new(self.certify(&name).ok()?);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name, made.clone());
        Some(made)
    }
}
