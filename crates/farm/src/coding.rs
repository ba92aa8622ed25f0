//! Bodies in the codings of HTTP.

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Quick to make: what is served is made once, at the start.
const BROTLI_QUALITY: u32 = 4;

/// In br.
///
/// # Panics
/// Never: memory can be written to.
pub fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut writer = CompressorWriter::new(&mut coded, 4096, BROTLI_QUALITY, 22);
    writer.write_all(bytes).expect("memory takes it");
    drop(writer);
    coded
}

/// In gzip.
///
/// # Panics
/// Never: memory can be written to.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).and_then(|()| writer.finish()).expect("memory takes it")
}

/// In zstd.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap_or_default()
}
