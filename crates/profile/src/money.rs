//! Amounts with decimals as whole minor units: from their digits, never through a binary fraction.

/// Currencies without a minor unit (ISO 4217).
const NONE: [&str; 17] = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
    "XOF", "XPF",
];

/// Currencies with three decimals.
const THREE: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// Currencies with four decimals.
const FOUR: [&str; 2] = ["CLF", "UYW"];

/// Most digits that are looked at.
const DIGITS_MAX: usize = 40;

/// How many decimals a currency has, by its code in capitals (ISO 4217); two where nothing else is known.
pub fn decimals(currency: &str) -> i32 {
    match currency {
        code if NONE.contains(&code) => 0,
        code if THREE.contains(&code) => 3,
        code if FOUR.contains(&code) => 4,
        _ => 2,
    }
}

/// `"129.90"` BRL as 12990.
///
/// # Errors
/// The text is no decimal number, has more decimals than the currency, or passes 64 bits.
pub(crate) fn minor(text: &str, currency: &str) -> Result<i64, String> {
    let no_number = || "is no decimal number".to_owned();
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| no_number())?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty()
        || whole.is_empty()
        || digits.len() > DIGITS_MAX
        || !only_digits
        || exponent.unsigned_abs() > 30
    {
        return Err(no_number());
    }
    let scale = decimals(currency);
    let shift = scale + exponent - i32::try_from(fraction.len()).map_err(|_| no_number())?;
    let value: i128 = digits
        .trim_start_matches('0')
        .parse()
        .or_else(|_| if digits.bytes().all(|b| b == b'0') { Ok(0) } else { Err(no_number()) })?;
    let power = 10_i128.checked_pow(shift.unsigned_abs()).ok_or_else(no_number)?;
    let scaled = if shift >= 0 {
        value.checked_mul(power).ok_or("passes 64 bits")?
    } else if value % power == 0 {
        value / power
    } else {
        return Err(format!("has more decimals than {currency} has ({scale})"));
    };
    let scaled = i64::try_from(scaled).map_err(|_| "passes 64 bits")?;
    Ok(if negative { -scaled } else { scaled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, currency, expected) in [
            ("8.2", "BRL", Some(820)),
            ("19.99", "BRL", Some(1999)),
            ("599.80", "BRL", Some(59980)),
            ("1.15", "BRL", Some(115)),
            ("129.9", "BRL", Some(12990)),
            ("1e2", "BRL", Some(10000)),
            ("1.5E1", "BRL", Some(1500)),
            ("100", "JPY", Some(100)),
            ("100.00", "JPY", Some(100)),
            ("100.5", "JPY", None),
            ("1.2345", "KWD", None),
            ("1.234", "KWD", Some(1234)),
            ("1.2340", "KWD", Some(1234)),
            ("10.001", "BRL", None),
            ("-5.10", "BRL", Some(-510)),
            ("0", "BRL", Some(0)),
            ("0.00", "BRL", Some(0)),
            ("", "BRL", None),
            (".5", "BRL", None),
            ("1,5", "BRL", None),
            ("NaN", "BRL", None),
            ("1e99", "BRL", None),
            ("1e-2147483648", "BRL", None),
            ("1e+2", "BRL", Some(10000)),
            ("1e-2", "BRL", Some(1)),
            ("100", "UYI", Some(100)),
            ("92233720368547758.07", "BRL", Some(i64::MAX)),
            ("92233720368547758.08", "BRL", None),
        ] {
            assert_eq!(minor(text, currency).ok(), expected, "{text} {currency}");
        }
    }
}
