//! Amounts for people: `12990 | money("BRL")` is `129.90 BRL`.
//!
//! How many decimals a currency has is the table that also reads amounts, so what comes in as `129.90` goes out so.

use minijinja::{Error, ErrorKind, Value};

/// `12990` and `brl` as `129.90 BRL`.
pub(super) fn with_currency(minor: Value, currency: Value) -> Result<String, Error> {
    let currency = code(&currency)?;
    Ok(format!("{} {currency}", decimal(whole(&minor)?, &currency)))
}

/// `12990` and `brl` as `129.90`.
pub(super) fn amount(minor: Value, currency: Value) -> Result<String, Error> {
    let currency = code(&currency)?;
    Ok(decimal(whole(&minor)?, &currency))
}

fn whole(minor: &Value) -> Result<i64, Error> {
    let wrong = |what: &str| invalid(format!("an amount is a whole number of minor units, this is {what}"));
    if minor.is_undefined() || minor.is_none() {
        return Err(wrong("missing"));
    }
    if !minor.is_number() {
        return Err(wrong(&minor.kind().to_string()));
    }
    i64::try_from(minor.clone()).map_err(|_| wrong("no whole number of 64 bits"))
}

fn code(currency: &Value) -> Result<String, Error> {
    match currency.as_str() {
        Some(code) if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Ok(code.to_ascii_uppercase())
        }
        _ => Err(invalid("a currency is three letters, such as BRL (ISO 4217)".to_owned())),
    }
}

fn invalid(reason: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

fn decimal(minor: i64, currency: &str) -> String {
    let decimals = usize::try_from(profile::decimals(currency)).unwrap_or(0);
    let sign = if minor < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}
