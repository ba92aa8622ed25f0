//! Undoing gzip, br and zstd, piece by piece and up to a length.

use brotli_decompressor::Decompressor;
use case::ContentFault;
use flate2::bufread::MultiGzDecoder;
use std::io::{Error, Read, Result};
use std::time::{Duration, Instant};

/// What servers are told that we read.
pub(crate) const ACCEPTED: &str = "gzip, br, zstd";
/// zstd may look back 8 MiB, as RFC 9659 has it for HTTP; a frame that wants more is refused.
const ZSTD_WINDOW_LOG: u32 = 23;
const BROTLI_BUFFER: usize = 16 << 10;
/// Feeds become a fifth of their length, a few a fiftieth. What would become less than this part of a large length is meant
/// to hurt, and not unfolded to the end.
const MOST_RATIO: u64 = 100;
const LEAST_BOMB: u64 = 1 << 20;

/// The bytes of a body without their coding.
pub(crate) struct Plain<'a> {
    inner: Box<dyn Read + 'a>,
    is_coded: bool,
    /// How much may still come.
    left: u64,
    /// How much has come.
    pub count: u64,
    /// What is wrong with it, as soon as something is.
    pub fault: Option<ContentFault>,
    /// How long undoing the coding took.
    pub cost: Duration,
}

impl<'a> Plain<'a> {
    /// The bytes of `body`, which is coded as its header says; at most `most` of them.
    pub(crate) fn of(coding: &str, body: &'a [u8], most: u64) -> std::result::Result<Plain<'a>, ContentFault> {
        let coding = coding.trim().to_ascii_lowercase();
        let inner: Box<dyn Read + 'a> = match coding.as_str() {
            "" | "identity" => Box::new(body),
            "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(body)),
            "br" => Box::new(Decompressor::new(body, BROTLI_BUFFER)),
            "zstd" => {
                let mut decoder = zstd::Decoder::with_buffer(body).map_err(|_| ContentFault::BadCoding)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(|_| ContentFault::BadCoding)?;
                Box::new(decoder)
            }
            _ => return Err(ContentFault::UnknownCoding),
        };
        let is_coded = !matches!(coding.as_str(), "" | "identity");
        let most = if is_coded { most.min((body.len() as u64 * MOST_RATIO).max(LEAST_BOMB)) } else { most };
        Ok(Plain { inner, is_coded, left: most, count: 0, fault: None, cost: Duration::ZERO })
    }
}

impl Read for Plain<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let begun = self.is_coded.then(Instant::now);
        let read = self.inner.read(into);
        self.cost += begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let count = read.inspect_err(|_| self.fault = Some(ContentFault::BadCoding))? as u64;
        self.count += count;
        if count > self.left {
            self.fault = Some(ContentFault::Bomb);
            return Err(Error::other("too much"));
        }
        self.left -= count;
        Ok(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("gzip");
        encoder.finish().expect("gzip")
    }

    fn read(coding: &str, body: &[u8], most: u64) -> std::result::Result<Vec<u8>, ContentFault> {
        let mut plain = Plain::of(coding, body, most)?;
        let mut bytes = Vec::new();
        let done = plain.read_to_end(&mut bytes);
        plain.fault.map_or(Ok(()), Err)?;
        done.expect("without a fault it is read");
        Ok(bytes)
    }

    #[test]
    fn every_coding_that_is_asked_for_is_undone() {
        let text = b"many words, many words, many words".as_slice();
        assert_eq!(read("", text, 100), Ok(text.to_vec()));
        assert_eq!(read("GZIP", &gzip(text), 100), Ok(text.to_vec()));
        let twice = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(read("gzip", &twice, 100), Ok(b"one two".to_vec()));
        assert_eq!(read("zstd", &zstd::encode_all(text, 3).expect("zstd"), 100), Ok(text.to_vec()));
        assert_eq!(read("br", &farm::brotli(text), 100), Ok(text.to_vec()));
        assert_eq!(read("compress", text, 100), Err(ContentFault::UnknownCoding));
    }

    #[test]
    fn what_is_damaged_cut_or_too_large_is_named() {
        let text = vec![b'x'; 100_000];
        let whole = gzip(&text);
        assert_eq!(read("gzip", &whole, 99_999), Err(ContentFault::Bomb));
        assert_eq!(read("gzip", &whole[..whole.len() / 2], 1 << 20), Err(ContentFault::BadCoding));
        for coding in ["gzip", "br", "zstd"] {
            assert_eq!(read(coding, b"no such thing", 100), Err(ContentFault::BadCoding), "{coding}");
        }
        assert_eq!(read("br", &farm::brotli(&text), 1000), Err(ContentFault::Bomb));
        assert_eq!(read("zstd", &zstd::encode_all(&text[..], 3).expect("zstd"), 1000), Err(ContentFault::Bomb));
        let large = gzip(&vec![b'x'; 3 << 20]);
        assert_eq!(read("gzip", &large, 4 << 20), Err(ContentFault::Bomb), "a thousandth");
        let mut random = fastrand::Rng::with_seed(1);
        let varied = (0..3 << 20).map(|_| random.u8(..16)).collect::<Vec<_>>();
        assert_eq!(read("gzip", &gzip(&varied), 4 << 20), Ok(varied));
    }
}
