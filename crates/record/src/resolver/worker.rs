//! Who answers: reads what files hold, and nothing else.

use super::elf::{Contents, Room};
use super::image::Image;
use super::perf_map::PerfMap;
use super::question::Question;
use super::{interpreters, lines, naming};
use gimli::UnwindContext;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::fs::File;
use std::os::fd::OwnedFd;

/// The images that were loaded, and what may still be kept of them.
#[derive(Default)]
pub(super) struct Worker {
    images: FxHashMap<u32, Image>,
    room: Room,
    context: Box<UnwindContext<usize>>,
}

impl Worker {
    /// The answer to a question as both are sent; empty for what is no question.
    pub fn answer(&mut self, question: &[u8], file: Option<OwnedFd>) -> Vec<u8> {
        let Ok(question) = serde_json::from_slice(question) else { return Vec::new() };
        let file = file.map(File::from);
        match question {
            Question::Load { image } => said(&self.load(image, file)),
            Question::Rows { places } => said(&places.iter().map(|place| self.row(*place)).collect::<Vec<_>>()),
            Question::Debug { image } => said(&self.with(image, file, Image::take_debug)),
            Question::Shared { image } => said(&self.with(image, file, Image::take_shared)),
            Question::Names { image, places } => {
                let name = |image| {
                    let caller = |(number, _)| self.images.get(&number);
                    let name = |place| naming::name(image, place, place.caller.and_then(caller));
                    places.iter().map(|place: &super::Place| name(*place)).collect::<Vec<_>>()
                };
                said(&self.images.get(&image).map(name).unwrap_or_default())
            }
            Question::Generated { addresses } => {
                let map = file.map(PerfMap::read).unwrap_or_default();
                said(&addresses.iter().map(|address| map.function(*address)).collect::<Vec<_>>())
            }
            Question::Embedded => said(&file.map(interpreters::embedded)),
            Question::Interpreter => said(&file.and_then(interpreters::of_scripts)),
            Question::Lines { form, first_line, table } => said(&lines::read(form, &table, first_line)),
        }
    }

    fn load(&mut self, number: u32, file: Option<File>) -> Option<super::Facts> {
        let image = Image::open(Contents::of_file(file?)?, &mut self.room)?;
        let facts = image.facts();
        self.images.insert(number, image);
        Some(facts)
    }

    fn row(&mut self, (image, address): (u32, u64)) -> Option<super::row::Row> {
        self.images.get(&image)?.row(address, &mut self.context)
    }

    fn with<T>(
        &mut self,
        image: u32,
        file: Option<File>,
        take: impl Fn(&mut Image, Contents) -> Option<T>,
    ) -> Option<T> {
        take(self.images.get_mut(&image)?, Contents::of_file(file?)?)
    }
}

/// What is sent: nothing fails to be written as JSON here.
fn said(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap_or_default()
}
