//! How the names of switches are spelt.

/// `NoAsking` is spelt `no-asking`, but `E10` is `E10`.
pub(crate) fn dashed(name: &str) -> String {
    if name.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
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
