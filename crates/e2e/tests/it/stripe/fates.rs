//! What can become of a payment.

use serde_json::json;
use testkit::eventually;

use super::fake::Fake;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Created,
    Paid,
    Declined,
    Canceled,
    Authorized,
    Captured,
    CapturedInPart,
    Released,
    RefundedInParts,
    RefundedWholeInParts,
    Refunded,
    Debited,
    DebitFailed,
}

pub(crate) const FATES: [Fate; 13] = [
    Fate::Created,
    Fate::Paid,
    Fate::Declined,
    Fate::Canceled,
    Fate::Authorized,
    Fate::Captured,
    Fate::CapturedInPart,
    Fate::Released,
    Fate::RefundedInParts,
    Fate::RefundedWholeInParts,
    Fate::Refunded,
    Fate::Debited,
    Fate::DebitFailed,
];

/// A payment that was begun.
pub(crate) struct Payment {
    fate: Fate,
    id: String,
}

impl Payment {
    /// The customer begins to pay; some do so for an order of the shop.
    pub(crate) async fn begin(fake: &Fake, fate: Fate, amount: u32, order: Option<&str>) -> Self {
        let method = match fate {
            Fate::Declined => "pm_card_chargeCustomerFail".to_owned(),
            Fate::Debited => debit(fake, "DE89370400440532013000").await,
            Fate::DebitFailed => debit(fake, "DE62370400440532013001").await,
            _ => "pm_card_visa".to_owned(),
        };
        let amount = amount.to_string();
        let mut form = vec![("amount", amount.as_str()), ("currency", "brl"), ("payment_method", &method)];
        if matches!(fate, Fate::Authorized | Fate::Captured | Fate::CapturedInPart | Fate::Released) {
            form.push(("capture_method", "manual"));
        }
        if let Some(order) = order {
            form.push(("metadata[order_id]", order));
        }
        let made = fake.post("/v1/payment_intents", &form).await;
        let id = made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        if !matches!(fate, Fate::Created | Fate::Canceled) {
            fake.post(&format!("/v1/payment_intents/{id}/confirm"), &[]).await;
        }
        let path = format!("/v1/payment_intents/{id}");
        let is_open = || async { fake.get(&path).await["status"] == json!("processing") };
        eventually("the bank has answered", false, is_open).await;
        Self { fate, id }
    }

    /// What the shop does with it later.
    pub(crate) async fn end(&self, fake: &Fake) {
        let path = format!("/v1/payment_intents/{}", self.id);
        match self.fate {
            Fate::Created
            | Fate::Paid
            | Fate::Declined
            | Fate::Authorized
            | Fate::Debited
            | Fate::DebitFailed => {}
            Fate::Canceled | Fate::Released => {
                fake.post(&format!("{path}/cancel"), &[]).await;
            }
            Fate::Captured => {
                fake.post(&format!("{path}/capture"), &[]).await;
            }
            Fate::CapturedInPart => {
                fake.post(&format!("{path}/capture"), &[("amount_to_capture", "800")]).await;
            }
            Fate::RefundedInParts => self.refund(fake, &["300", "200", "99"]).await,
            Fate::RefundedWholeInParts => {
                let amount = fake.get(&path).await["amount"].as_u64().unwrap();
                self.refund(fake, &["300", "200", &(amount - 500).to_string()]).await;
            }
            Fate::Refunded => {
                self.refund(fake, &[]).await;
                fake.post("/v1/refunds", &[("payment_intent", &self.id)]).await;
            }
        }
    }

    async fn refund(&self, fake: &Fake, amounts: &[&str]) {
        for amount in amounts {
            let form = [("payment_intent", self.id.as_str()), ("amount", amount)];
            let refund = fake.post("/v1/refunds", &form).await;
            assert_eq!(refund["status"], "succeeded", "{refund}");
        }
    }
}

async fn debit(fake: &Fake, iban: &str) -> String {
    let form = [("type", "sepa_debit"), ("sepa_debit[iban]", iban)];
    fake.post("/v1/payment_methods", &form).await["id"].as_str().unwrap().to_owned()
}

/// The plan that every subscription is of.
pub(crate) async fn plan(fake: &Fake) {
    let form = [("id", "plan"), ("amount", "1500"), ("currency", "brl"), ("interval", "month")];
    fake.post("/v1/plans", &[&form[..], &[("product[name]", "x")]].concat()).await;
}

/// A customer subscribes with a card that works, or fails; returns the invoice.
pub(crate) async fn subscribe(fake: &Fake, works: bool) -> String {
    let customer = fake.post("/v1/customers", &[("email", "c@example.com")]).await;
    let customer = customer["id"].as_str().unwrap();
    let card = if works { "4242424242424242" } else { "4000000000000341" };
    let form = [("type", "card"), ("card[number]", card), ("card[exp_month]", "12")];
    let form = [&form[..], &[("card[exp_year]", "2030"), ("card[cvc]", "123")]].concat();
    let method = fake.post("/v1/payment_methods", &form).await["id"].as_str().unwrap().to_owned();
    fake.post(&format!("/v1/payment_methods/{method}/attach"), &[("customer", customer)]).await;
    let settings = [("invoice_settings[default_payment_method]", method.as_str())];
    fake.post(&format!("/v1/customers/{customer}"), &settings).await;
    let form = [("customer", customer), ("items[0][plan]", "plan")];
    let made = fake.post("/v1/subscriptions", &form).await;
    made["latest_invoice"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// Nobody waits any longer for the money of an invoice. One that is paid stays so.
pub(crate) async fn void(fake: &Fake, invoice: &str) {
    fake.post(&format!("/v1/invoices/{invoice}/void"), &[]).await;
}
