//! Passwords derived from a master password and a site's name (the algorithm "Master Password", version 3).

use aws_lc_rs::hmac;

use super::scrypt;

const SCOPE: &[u8] = b"com.lyndir.masterpassword";

/// scrypt's cost and parallelism, as the algorithm sets them.
const COST: usize = 32_768;
const PARALLEL: usize = 2;

/// The forms of a password of that type; each letter stands for a class of characters.
fn forms(kind: &str) -> Option<&'static [&'static [u8]]> {
    Some(match kind {
        "maximum" => &[b"anoxxxxxxxxxxxxxxxxx", b"axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            b"CvcvnoCvcvCvcv",
            b"CvcvCvcvnoCvcv",
            b"CvcvCvcvCvcvno",
            b"CvccnoCvcvCvcv",
            b"CvccCvcvnoCvcv",
            b"CvccCvcvCvcvno",
            b"CvcvnoCvccCvcv",
            b"CvcvCvccnoCvcv",
            b"CvcvCvccCvcvno",
            b"CvcvnoCvcvCvcc",
            b"CvcvCvcvnoCvcc",
            b"CvcvCvcvCvccno",
            b"CvccnoCvccCvcv",
            b"CvccCvccnoCvcv",
            b"CvccCvccCvcvno",
            b"CvcvnoCvccCvcc",
            b"CvcvCvccnoCvcc",
            b"CvcvCvccCvccno",
            b"CvccnoCvcvCvcc",
            b"CvccCvcvnoCvcc",
            b"CvccCvcvCvccno",
        ],
        "medium" => &[b"CvcnoCvc", b"CvcCvcno"],
        "short" => &[b"Cvcn"],
        "basic" => &[b"aaanaaan", b"aannaaan", b"aaannaaa"],
        "pin" => &[b"nnnn"],
        _ => return None,
    })
}

const fn class(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The password; a mistake is the result.
pub(super) fn password(counter: u32, kind: &str, master: &[u8], user: &[u8], site: &[u8]) -> String {
    let Some(forms) = forms(kind) else { return format!("cannot find password template {kind}") };
    let length = |text: &[u8]| u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
    let salt = [SCOPE, &length(user), user].concat();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &scrypt::key(master, &salt, COST, PARALLEL));
    let seed = hmac::sign(&key, &[SCOPE, &length(site), site, &counter.to_be_bytes()].concat());
    let mut seed = seed.as_ref().iter().copied().map(usize::from);
    let form = seed.next().and_then(|first| forms.get(first % forms.len())).copied().unwrap_or_default();
    form.iter()
        .zip(seed)
        .filter_map(|(letter, number)| {
            let class = class(*letter);
            class.get(number % class.len()).map(|&byte| char::from(byte))
        })
        .collect()
}
