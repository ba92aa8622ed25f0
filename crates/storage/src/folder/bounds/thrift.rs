//! Thrift's compact protocol, as far as needed to see how long lists are and what numbers say, before anybody believes them.

/// Structures in structures: Parquet's go eight deep.
const DEEPEST: usize = 16;

/// Elements of a list: as many as there are pieces of a table with their columns.
const LONGEST_LIST: u64 = 65_536;

/// Something that a structure holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Number(i64),
    List(u64),
}

/// Reads a structure to its end, and shows each number and each list's length with the numbers of the fields that lead to it;
/// the bytes that it takes. None where it is cut off or absurd.
pub(super) fn structure(bytes: &[u8], see: &mut dyn FnMut(&[i16], Seen)) -> Option<usize> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), see };
    walk.structure()?;
    Some(walk.at)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    see: &'a mut dyn FnMut(&[i16], Seen),
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for group in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(7 * group)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        let rest = self.bytes.len() - self.at;
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= rest)?;
        self.at += bytes;
        Some(())
    }

    fn structure(&mut self) -> Option<()> {
        if self.path.len() >= DEEPEST {
            return None;
        }
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok()?,
                more => field.checked_add(i16::from(more))?,
            };
            self.path.push(field);
            // Yes and no stand in the head itself.
            if !matches!(head & 15, 1 | 2) {
                self.value(head & 15)?;
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        match kind {
            1..=3 => self.pass(1),
            4..=6 => {
                let number = self.signed()?;
                (self.see)(&self.path, Seen::Number(number));
                Some(())
            }
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            9 | 10 => self.list(),
            12 => self.structure(),
            // Maps, and what does not exist: Parquet has none.
            _ => None,
        }
    }

    fn list(&mut self) -> Option<()> {
        let head = self.byte()?;
        let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        (self.see)(&self.path, Seen::List(length));
        if length > LONGEST_LIST || length > (self.bytes.len() - self.at) as u64 || self.path.len() >= DEEPEST {
            return None;
        }
        // A list in a list is one deeper.
        self.path.push(0);
        for _ in 0..length {
            self.value(head & 15)?;
        }
        self.path.pop();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lists_are_shown_with_the_fields_that_lead_to_them() {
        // 1: i32 -2; 5: struct { 1: i32 7 }; 6: list of two i32.
        let bytes = [0x15, 3, 0x4c, 0x15, 14, 0, 0x19, 0x25, 2, 4, 0, 99];
        let mut seen = Vec::new();
        let length = structure(&bytes, &mut |path, what| seen.push((path.to_vec(), what)));
        assert_eq!(length, Some(11));
        let expected = [
            (vec![1], Seen::Number(-2)),
            (vec![5, 1], Seen::Number(7)),
            (vec![6], Seen::List(2)),
            (vec![6, 0], Seen::Number(1)),
            (vec![6, 0], Seen::Number(2)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn lists_longer_than_what_follows_and_structures_without_an_end_are_absurd() {
        let long = [0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        assert_eq!(structure(&long, &mut |_, _| {}), None);
        assert_eq!(structure(&[0x1c; 100], &mut |_, _| {}), None);
        assert_eq!(structure(&[0x18, 200, 1, 0], &mut |_, _| {}), None);
    }
}
