//! How the names of switches are spelt.

/// `NoAsking` is spelt `no-asking`, but `E1` is `E1`.
pub(crate) fn dashed(name: &str) -> String {
    if name.len() <= 2 {
        return name.to_owned();
    }
    let mut dashed = String::new();
    for (place, letter) in name.char_indices() {
        if letter.is_uppercase() && place > 0 {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}
