//! `buffered-entropy`: random bytes from a stock.

use super::{Intervention, NotHere, Prediction, intervention};
use crate::treatment::Preload;
use case::syscall;

intervention! {
    /// # buffered-entropy
    ///
    /// ## What it does
    /// Answers `getrandom` and `getentropy` for 256 bytes or fewer from a stock that the kernel fills 4 kB at a time.
    /// The bytes are the kernel's; no byte is handed out twice, to a child neither.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that ask through libc (CPython, Node.js, OpenSSL's seeds). Not Go, not static
    /// programs, not `arc4random`, not reads of /dev/urandom.
    ///
    /// ## How we know it took effect
    /// The shim counts requests that it served from the stock.
    pub const BUFFERED_ENTROPY: Intervention = Intervention {
        name: "buffered-entropy",
        summary: "serves random bytes from a stock instead of asking the kernel each time",
        predictions: &[Prediction::gains("P47")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |request, treatment| {
            if request.calls().next().is_some_and(|call| syscall::is_read(call.number)) {
                return Err(NotHere("serves getrandom and getentropy: this program reads the device".into()));
            }
            treatment.preloads.push(Preload { shim: "buffered-entropy", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("buffered-entropy"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::Request;
    use crate::interventions::tests::{finding_at, request};
    use crate::treatment::{End, Treatment};

    #[test]
    fn what_a_program_reads_from_the_device_is_not_served() {
        let (mut recording, finding) = finding_at(End::Client);
        let world = World::default();
        let mut is_tried = |number: u16| {
            recording.calls[0].number = number;
            let request = Request { recording: Some(&recording), finding: Some(&finding), ..request(&world) };
            (BUFFERED_ENTROPY.treat)(&request, &mut Treatment::default()).is_ok()
        };
        assert_eq!([syscall::GETRANDOM, libc::SYS_read as u16].map(&mut is_tried), [true, false]);
    }
}
