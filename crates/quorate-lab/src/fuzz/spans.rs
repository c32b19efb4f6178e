//! Where the fields of an encoded value lie, so that a mutation can change one of them.
//!
//! This writes the same bytes as `postcard`, and notes for each number, text, list and named type
//! where its bytes begin and end. The decoder of the wire then decides whether changed bytes are
//! still a value.

use std::fmt;

use serde::ser::{self, Serialize};

/// The bytes of a value, and where its fields lie.
#[derive(Clone, Debug, Default)]
pub(super) struct Encoded {
    /// The bytes, as `postcard` writes them.
    pub(super) bytes: Vec<u8>,
    /// All fields, in the order in which they end.
    pub(super) spans: Vec<Span>,
    /// The name of the field of a struct that is written now.
    field: &'static str,
}

/// A part of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// What it is.
    pub(super) sort: Sort,
    /// The field of a struct that it is, or lies in.
    pub(super) field: &'static str,
    /// Its first byte.
    pub(super) start: usize,
    /// The byte after its last.
    pub(super) end: usize,
}

/// What a part of the bytes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A number of this many bits, as a varint.
    Number(u32),
    /// One byte: a small number, a truth value, or whether there is an optional value.
    Byte,
    /// A text, with its length.
    Text,
    /// A list, with its length: where its items begin.
    List(Vec<usize>),
    /// A value of a type of this name.
    Named(&'static str),
}

impl Encoded {
    /// Encodes a value; `None` if `postcard` could not.
    pub(super) fn of<T: Serialize>(value: &T) -> Option<Self> {
        let mut all = Self::default();
        value.serialize(&mut all).ok()?;
        Some(all)
    }

    fn note(&mut self, sort: Sort, start: usize) {
        self.spans.push(Span { sort, field: self.field, start, end: self.bytes.len() });
    }

    fn number(&mut self, value: u128, bits: u32) {
        let start = self.bytes.len();
        varint(value, &mut self.bytes);
        self.note(Sort::Number(bits), start);
    }

    fn byte(&mut self, value: u8) {
        self.bytes.push(value);
        self.note(Sort::Byte, self.bytes.len() - 1);
    }

    fn text(&mut self, value: &[u8]) {
        let start = self.bytes.len();
        varint(value.len() as u128, &mut self.bytes);
        self.bytes.extend_from_slice(value);
        self.note(Sort::Text, start);
    }
}

/// Appends a number: seven bits in each byte, the lowest first.
pub(super) fn varint(mut value: u128, bytes: &mut Vec<u8>) {
    loop {
        let low = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        if value == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

/// The number that begins these bytes.
pub(super) fn read_varint(bytes: &[u8]) -> u128 {
    let digits = bytes.iter().take(19);
    digits
        .enumerate()
        .fold(0, |value, (place, byte)| value | u128::from(byte & 0x7f) << (7 * place))
}

/// A value that cannot be encoded.
#[derive(Debug)]
pub(super) struct Unknown;

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the wire has no such value")
    }
}

impl std::error::Error for Unknown {}

impl ser::Error for Unknown {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Unknown
    }
}

/// A value with parts, while it is written.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    all: &'a mut Encoded,
    /// The type, or `None` for a list.
    name: Option<&'static str>,
    start: usize,
    items: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn new(all: &'a mut Encoded, name: Option<&'static str>, start: usize) -> Self {
        Self { all, name, start, items: Vec::new() }
    }

    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        value.serialize(&mut *self.all)
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.items.push(self.all.bytes.len());
        self.part(value)
    }

    fn finish(self) {
        let sort = self.name.map_or(Sort::List(self.items), Sort::Named);
        self.all.note(sort, self.start);
    }
}

impl<'a> ser::Serializer for &'a mut Encoded {
    type Ok = ();
    type Error = Unknown;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Unknown> {
        self.byte(value.into());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Unknown> {
        self.byte(value);
        Ok(())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Unknown> {
        self.number(value.into(), 16);
        Ok(())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Unknown> {
        self.number(value.into(), 32);
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Unknown> {
        self.number(value.into(), 64);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Unknown> {
        self.number(value, 128);
        Ok(())
    }

    fn serialize_i8(self, _: i8) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_i16(self, _: i16) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_i32(self, _: i32) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_i64(self, _: i64) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_f32(self, _: f32) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_f64(self, _: f64) -> Result<(), Unknown> {
        Err(Unknown)
    }

    fn serialize_char(self, value: char) -> Result<(), Unknown> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unknown> {
        self.text(value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unknown> {
        self.text(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unknown> {
        self.byte(0);
        self.note(Sort::Named("Option"), self.bytes.len() - 1);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unknown> {
        let start = self.bytes.len();
        self.byte(1);
        value.serialize(&mut *self)?;
        self.note(Sort::Named("Option"), start);
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Unknown> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unknown> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Unknown> {
        let start = self.bytes.len();
        self.number(index.into(), 32);
        self.note(Sort::Named(name), start);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        let start = self.bytes.len();
        value.serialize(&mut *self)?;
        self.note(Sort::Named(name), start);
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        let start = self.bytes.len();
        self.number(index.into(), 32);
        value.serialize(&mut *self)?;
        self.note(Sort::Named(name), start);
        Ok(())
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Parts<'a>, Unknown> {
        let start = self.bytes.len();
        varint(length.ok_or(Unknown)? as u128, &mut self.bytes);
        Ok(Parts::new(self, None, start))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Unknown> {
        let start = self.bytes.len();
        Ok(Parts::new(self, Some("tuple"), start))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, Unknown> {
        let start = self.bytes.len();
        Ok(Parts::new(self, Some(name), start))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Unknown> {
        let start = self.bytes.len();
        self.number(index.into(), 32);
        Ok(Parts::new(self, Some(name), start))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Parts<'a>, Unknown> {
        self.serialize_seq(length)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, Unknown> {
        self.serialize_tuple_struct(name, 0)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        parts: usize,
    ) -> Result<Parts<'a>, Unknown> {
        self.serialize_tuple_variant(name, index, variant, parts)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl ser::SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.item(value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.part(value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.part(value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.part(value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unknown> {
        self.item(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.part(value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        let outer = std::mem::replace(&mut self.all.field, key);
        self.part(value)?;
        self.all.field = outer;
        Ok(())
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeStructVariant for Parts<'_> {
    type Ok = ();
    type Error = Unknown;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        ser::SerializeStruct::serialize_field(self, key, value)
    }

    fn end(self) -> Result<(), Unknown> {
        self.finish();
        Ok(())
    }
}
