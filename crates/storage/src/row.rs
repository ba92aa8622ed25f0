//! Tables are declared once: the row type, its columns, their documentation, the writer and the reader all come from
//! one `table!` declaration.

use crate::names::NameKind;
use crate::units::Nanos;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use std::sync::Arc;

/// A column as its table declares it.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type in the Parquet file.
    pub data_type: DataType,
    /// What it means, with its unit.
    pub doc: String,
    /// What kind of name its text is; none where it is no text.
    pub names: Option<NameKind>,
}

/// A value of a row, whatever its column's type: for those who show any table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Number(i128),
    /// A number with fractions.
    Decimal(f64),
    /// Yes or no.
    Flag(bool),
    /// Words.
    Text(String),
    /// A time, or a length of time.
    Nanos(Nanos),
}

/// A type of row, and so a table. Implemented by `table!` only.
pub trait Row: Sized + Clone + Send + 'static {
    /// The table's name, and its file's.
    const TABLE: &'static str;

    /// What one row stands for.
    fn doc() -> String;

    /// The columns in order.
    fn columns() -> Vec<Column>;

    /// The rows as columns.
    fn to_batch(rows: &[Self]) -> RecordBatch;

    /// The columns as rows. Columns that the file has and this version does not are passed over.
    ///
    /// # Errors
    /// Names the column that is missing or has another type.
    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>, String>;

    /// The memory that the row takes, words included.
    fn bytes(&self) -> usize;

    /// One row's values with the names of their columns, in order.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// Does something with each text, as which kind of name the column declares it.
    fn rename(&mut self, rename: &mut dyn FnMut(NameKind, &mut String));

    /// The table's Arrow schema.
    fn schema() -> Arc<Schema> {
        let fields = Self::columns().into_iter().map(|column| Field::new(column.name, column.data_type, false));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// A value that can stand in a column.
pub trait Cell: Sized + Clone {
    /// The Arrow array of such values.
    type Column: Array + 'static;

    /// The Arrow type.
    fn data_type() -> DataType;

    /// Gathers a column.
    fn gather(values: impl Iterator<Item = Self>) -> ArrayRef;

    /// Reads one value.
    fn value(column: &Self::Column, row: usize) -> Self;

    /// The same value without its type.
    fn untyped(self) -> Value;

    /// The memory that it takes besides its own place.
    fn elsewhere_bytes(&self) -> usize {
        0
    }
}

macro_rules! primitive_cell {
    ($($type:ty => $array:ty, $data_type:ident, $variant:ident;)*) => { $(
        impl Cell for $type {
            type Column = $array;
            fn data_type() -> DataType { DataType::$data_type }
            fn gather(values: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new(<$array>::from(values.collect::<Vec<_>>()))
            }
            fn value(column: &$array, row: usize) -> Self { column.value(row) }
            fn untyped(self) -> Value { Value::$variant(self.into()) }
        }
    )* };
}

primitive_cell! {
    u8 => UInt8Array, UInt8, Number;
    u16 => UInt16Array, UInt16, Number;
    u32 => UInt32Array, UInt32, Number;
    u64 => UInt64Array, UInt64, Number;
    i32 => Int32Array, Int32, Number;
    i64 => Int64Array, Int64, Number;
    f64 => Float64Array, Float64, Decimal;
    bool => BooleanArray, Boolean, Flag;
}

impl Cell for Nanos {
    type Column = UInt64Array;
    fn data_type() -> DataType {
        DataType::UInt64
    }
    fn gather(values: impl Iterator<Item = Self>) -> ArrayRef {
        u64::gather(values.map(|nanos| nanos.0))
    }
    fn value(column: &UInt64Array, row: usize) -> Self {
        Nanos(column.value(row))
    }
    fn untyped(self) -> Value {
        Value::Nanos(self)
    }
}

impl Cell for String {
    type Column = StringArray;
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn gather(values: impl Iterator<Item = Self>) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }
    fn value(column: &StringArray, row: usize) -> Self {
        column.value(row).to_string()
    }
    fn untyped(self) -> Value {
        Value::Text(self)
    }
    fn elsewhere_bytes(&self) -> usize {
        self.len()
    }
}

/// Joins the lines of a doc comment into one text.
pub(crate) fn doc_text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_string()
}

/// What a column declares its text to be.
pub(crate) fn declared(names: &[NameKind]) -> Option<NameKind> {
    names.first().copied()
}

/// The typed column of a batch.
pub(crate) fn typed_column<'a, C: Cell>(batch: &'a RecordBatch, name: &str) -> Result<&'a C::Column, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("column {name} is missing"))?;
    column.as_any().downcast_ref::<C::Column>().ok_or_else(|| format!("column {name} has another type"))
}

/// A column of a batch, or what stands for it in cases that were written before it was added.
pub(crate) enum Present<'a, C: Cell> {
    Column(&'a C::Column),
    Before(C),
}

impl<'a, C: Cell> Present<'a, C> {
    /// The column; where the batch has none, `before` if there is such a thing.
    pub(crate) fn of(batch: &'a RecordBatch, name: &str, before: Option<C>) -> Result<Present<'a, C>, String> {
        match before {
            Some(before) if batch.column_by_name(name).is_none() => Ok(Present::Before(before)),
            _ => typed_column::<C>(batch, name).map(Present::Column),
        }
    }

    pub(crate) fn value(&self, row: usize) -> C {
        match self {
            Present::Column(column) => C::value(column, row),
            Present::Before(before) => before.clone(),
        }
    }
}

/// Declares a table: `table! { /// doc pub struct Row in "name" { /// doc pub column: type, ... } }`. A column that was added
/// later says what stands for it in older cases: `pub column: type = value`. A column of text says what kind of name it holds:
/// `pub column: String as Host`.
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $row:ident in $table:literal {
            $( $(#[doc = $column_doc:literal])+ pub $column:ident: $type:ty $(as $names:ident)? $(= $before:expr)?, )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row { $( $(#[doc = $column_doc])+ pub $column: $type, )+ }

        impl $crate::row::Row for $row {
            const TABLE: &'static str = $table;

            fn doc() -> String { $crate::row::doc_text(&[$($doc),+]) }

            fn columns() -> Vec<$crate::row::Column> {
                vec![ $( $crate::row::Column {
                    name: stringify!($column),
                    data_type: <$type as $crate::row::Cell>::data_type(),
                    doc: $crate::row::doc_text(&[$($column_doc),+]),
                    names: $crate::row::declared(&[$($crate::names::NameKind::$names)?]),
                } ),+ ]
            }

            fn values(&self) -> Vec<(&'static str, $crate::row::Value)> {
                vec![ $( (stringify!($column), $crate::row::Cell::untyped(self.$column.clone())) ),+ ]
            }

            fn rename(&mut self, rename: &mut dyn FnMut($crate::names::NameKind, &mut String)) {
                // Most tables have no text.
                let _ = &rename;
                $( $( rename($crate::names::NameKind::$names, &mut self.$column); )? )+
            }

            fn bytes(&self) -> usize {
                size_of::<Self>() $( + $crate::row::Cell::elsewhere_bytes(&self.$column) )+
            }

            fn to_batch(rows: &[Self]) -> arrow_array::RecordBatch {
                let columns = vec![ $( <$type as $crate::row::Cell>::gather(rows.iter().map(|row| row.$column.clone())) ),+ ];
                arrow_array::RecordBatch::try_new(Self::schema(), columns).expect("columns come from one declaration")
            }

            fn from_batch(batch: &arrow_array::RecordBatch) -> Result<Vec<Self>, String> {
                $( let $column = {
                    let before: &[$type] = &[$($before)?];
                    $crate::row::Present::<$type>::of(batch, stringify!($column), before.first().cloned())?
                }; )+
                Ok((0..batch.num_rows()).map(|row| $row { $( $column: $column.value(row) ),+ }).collect())
            }
        }
    };
}
pub(crate) use table;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Handshake;

    /// A batch of one handshake without one of its columns.
    fn without(column: &str) -> RecordBatch {
        let row = Handshake { connection: 7, ticket: true, gives_none: true, ..Handshake::default() };
        let batch = Handshake::to_batch(&[row]);
        let columns = Handshake::columns();
        let kept = (0..columns.len()).filter(|index| columns[*index].name != column).collect::<Vec<_>>();
        batch.project(&kept).expect("fewer columns")
    }

    #[test]
    fn a_column_that_was_added_later_may_be_missing_and_no_other() {
        let older = Handshake::from_batch(&without("gives_none")).expect("an older case");
        let row = Handshake { connection: 7, ticket: true, ..Handshake::default() };
        assert_eq!(older, [row]);
        assert_eq!(Handshake::from_batch(&without("ticket")), Err("column ticket is missing".to_string()));
    }
}
