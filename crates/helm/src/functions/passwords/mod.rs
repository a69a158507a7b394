//! Passwords: hashed for `htpasswd`, derived from a master password, used as keys.

mod aes;
mod blowfish;
mod derived;
mod scrypt;

use super::Parameter::{Int, String};
use super::random::Random;
use super::{Function, pure, world};
use crate::value::Value;

/// How many rounds `bcrypt` takes, as a power of two: the library's default.
const COST: u32 = 10;

/// The longest password that `bcrypt` looks at, in bytes.
const MAX_BCRYPT: usize = 72;

pub(super) static FUNCTIONS: &[Function] = &[
    world("bcrypt", &[String], |executor, arguments| {
        Ok(Value::string(bcrypt(&arguments.text(0), &mut executor.world.random)))
    }),
    world("htpasswd", &[String, String], |executor, arguments| {
        let user = arguments.string(0);
        if user.contains(':') {
            return Ok(Value::string(format!("invalid username: {user}")));
        }
        Ok(Value::string(format!("{user}:{}", bcrypt(&arguments.text(1), &mut executor.world.random))))
    }),
    pure("derivePassword", &[Int, String, String, String, String], |arguments| {
        let Ok(counter) = u32::try_from(arguments.int(0)) else {
            return Err("expected a counter between 0 and 4294967295".into());
        };
        let derived = derived::password(
            counter,
            &arguments.string(1),
            &arguments.text(2),
            &arguments.text(3),
            &arguments.text(4),
        );
        Ok(Value::string(derived))
    }),
    world("encryptAES", &[String, String], |executor, arguments| {
        let mut vector = [0; 16];
        executor.world.random.fill(&mut vector);
        aes::encrypt(&arguments.text(0), &arguments.text(1), vector).map(Value::string)
    }),
    pure("decryptAES", &[String, String], |arguments| {
        aes::decrypt(&arguments.text(0), &arguments.text(1)).map(Value::string)
    }),
];

/// A mistake is the result.
fn bcrypt(password: &[u8], random: &mut Random) -> std::string::String {
    if password.len() > MAX_BCRYPT {
        let reason = "bcrypt: password length exceeds 72 bytes";
        return format!("failed to encrypt string with bcrypt: {reason}");
    }
    let mut salt = [0; 16];
    random.fill(&mut salt);
    let hash = blowfish::hash(password, &salt, COST);
    format!("$2a${COST:02}${}{}", blowfish::encode(&salt), blowfish::encode(&hash))
}
