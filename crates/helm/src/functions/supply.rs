//! Keys for certificates, made ahead. The search for an RSA key's primes takes longer than all else in a rendering, and
//! it needs nothing of the chart: it goes on beside the parsing of the templates.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::keys::Key;
use crate::template::failure::Cause;

/// How many keys are made ahead at most: an authority's and one that it signs. A chart seldom uses all that its
/// templates mention, so more would mostly be work for nothing.
const MOST_AHEAD: usize = 2;

/// The functions that take a key from here.
const USERS: [&[u8]; 3] = [b"genCA ", b"genSignedCert ", b"genSelfSignedCert "];

/// Where a rendering gets its certificates' keys from.
pub(crate) struct Supply {
    made: Receiver<Result<Key, Cause>>,
    underway: usize,
}

impl Supply {
    /// A supply that begins at once on as many keys as the templates may use.
    pub(crate) fn for_templates<'text>(templates: impl Iterator<Item = &'text [u8]>) -> Self {
        let mentions = templates.flat_map(|text| USERS.iter().map(move |user| mentions(text, user)));
        let (sender, made) = channel();
        let mut underway = 0;
        let mut wanted = 0;
        for count in mentions {
            wanted = MOST_AHEAD.min(wanted + count);
            while underway < wanted {
                if !begin(sender.clone()) {
                    return Self { made, underway };
                }
                underway += 1;
            }
        }
        Self { made, underway }
    }

    /// A key that nobody had before.
    pub(crate) fn take(&mut self) -> Result<Key, Cause> {
        if self.underway > 0 {
            self.underway -= 1;
            if let Ok(key) = self.made.recv() {
                return key;
            }
        }
        Key::generate_certificate_key()
    }
}

/// Makes one key on a thread of its own; whether there is one. Nobody waits for the thread when its key is not needed.
fn begin(sender: Sender<Result<Key, Cause>>) -> bool {
    let thread = std::thread::Builder::new().name("helm-key".to_owned());
    // The supply may be gone by then, and the key with it.
    thread.spawn(move || drop(sender.send(Key::generate_certificate_key()))).is_ok()
}

fn mentions(text: &[u8], word: &[u8]) -> usize {
    let mut from = 0;
    let mut count = 0;
    while let Some(at) = crate::value::text::find(&text[from..], word) {
        let before = text[..from + at].last();
        count += usize::from(before.is_none_or(|byte| b" ({-".contains(byte)));
        from += at + word.len();
    }
    count
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn supply(templates: &[&str]) -> Supply {
        Supply::for_templates(templates.iter().map(|text| text.as_bytes()))
    }

    #[test]
    fn keys_are_made_ahead_only_for_templates_that_mention_them() {
        assert_eq!(supply(&["a: {{ .Values.genCA }}", "genCAWithKey"]).underway, 0);
        assert_eq!(supply(&["a", "{{ genCA \"x\" 1 }}"]).underway, 1);
        let many = "{{ genSignedCert .a }}{{ genSignedCert .b }}";
        assert_eq!(supply(&["{{ genCA \"x\" 1 }}", many]).underway, MOST_AHEAD);
    }

    #[test]
    fn each_key_is_handed_out_once_whether_made_ahead_or_not() {
        let mut supply = supply(&["{{ genCA \"x\" 1 }}{{ genSelfSignedCert }}"]);
        let keys: BTreeSet<_> = (0..4).map(|_| supply.take().unwrap().public_key_info()).collect();
        assert_eq!((keys.len(), supply.underway), (4, 0));
    }
}
