//! What a customer buys, what Stripe tells of it, and what must come of it.

use serde_json::{Value, json};

/// One sale: a deposit or package (an order), or an invoice with the payment behind it.
#[derive(Debug, Clone)]
pub(super) struct Sale {
    /// Distinct, and the beginning of all its ids.
    pub(super) name: String,
    pub(super) is_invoice: bool,
    pub(super) customer: usize,
    pub(super) total: i64,
    pub(super) currency: &'static str,
    /// Sums of what was given back so far, each larger than the one before.
    pub(super) refunds: Vec<i64>,
    /// Statuses of a dispute, in their order; none: there is no dispute.
    pub(super) dispute: Vec<&'static str>,
    /// When it was paid, in seconds.
    pub(super) paid_at: i64,
}

impl Sale {
    pub(super) fn email(&self) -> String {
        format!("customer_{}@example.com", self.customer)
    }

    fn order(&self) -> String {
        format!("{}_package", self.name)
    }

    fn invoice(&self) -> String {
        format!("{}_in", self.name)
    }

    fn intent(&self) -> String {
        format!("{}_pi", self.name)
    }

    /// What the receipt is about.
    pub(super) fn receipt_for(&self) -> String {
        if self.is_invoice { self.invoice() } else { self.order() }
    }

    fn refunded(&self) -> i64 {
        self.refunds.last().copied().unwrap_or(0)
    }

    fn disputed(&self) -> i64 {
        if matches!(self.dispute.last(), None | Some(&"won")) { 0 } else { self.total }
    }

    /// Everything that Stripe tells, as events.
    pub(super) fn events(&self) -> Vec<String> {
        let mut told = self.payment();
        for (at, refunded) in self.refunds.iter().enumerate() {
            // Two may fall into one second.
            let created = self.paid_at + 100 + i64::try_from(at / 2).unwrap();
            told.push(("charge.refunded", created, self.charge(*refunded)));
        }
        for (at, status) in self.dispute.iter().enumerate() {
            let created = self.paid_at + 200 + i64::try_from(at).unwrap();
            told.push(("charge.dispute.updated", created, self.chargeback(status)));
        }
        let event = |(at, (type_, created, object)): (usize, (&str, i64, Value))| {
            let id = format!("evt_{}_{at}", self.name);
            json!({"id": id, "object": "event", "created": created, "livemode": true, "type": type_, "data": {"object": object}})
                .to_string()
        };
        told.into_iter().enumerate().map(event).collect()
    }

    fn payment(&self) -> Vec<(&'static str, i64, Value)> {
        let Self { total, currency, paid_at, .. } = self;
        let metadata = self.metadata();
        // The intent itself does not say whose it is.
        let intent = json!({"id": self.intent(), "object": "payment_intent", "amount": total, "currency": currency, "metadata": metadata});
        let mut told = vec![
            ("payment_intent.succeeded", *paid_at, intent),
            ("charge.succeeded", *paid_at, self.charge(0)),
        ];
        if self.is_invoice {
            let invoice = |status: &str, paid: Value| {
                json!({"id": self.invoice(), "object": "invoice", "status": status, "total": total, "currency": currency,
                       "customer_email": self.email(), "status_transitions": {"paid_at": paid}})
            };
            told.push(("invoice.finalized", paid_at - 50, invoice("open", Value::Null)));
            told.push(("invoice.paid", paid_at + 1, invoice("paid", json!(paid_at))));
        } else {
            let session = json!({"id": format!("{}_cs", self.name), "object": "checkout.session", "mode": "payment",
                "payment_status": "paid", "amount_total": total, "currency": currency, "payment_intent": self.intent(),
                "customer_details": {"email": self.email()}, "metadata": metadata});
            told.push(("checkout.session.completed", paid_at + 1, session));
        }
        told
    }

    fn metadata(&self) -> Value {
        if self.is_invoice { json!({}) } else { json!({"order_id": self.order()}) }
    }

    fn charge(&self, refunded: i64) -> Value {
        json!({"id": format!("{}_ch", self.name), "object": "charge", "payment_intent": self.intent(), "captured": true,
               "amount": self.total, "amount_refunded": refunded, "currency": self.currency,
               "billing_details": {"email": self.email()}, "metadata": self.metadata()})
    }

    fn chargeback(&self, status: &str) -> Value {
        json!({"id": format!("{}_dp", self.name), "object": "dispute", "charge": format!("{}_ch", self.name),
               "payment_intent": self.intent(), "status": status, "amount": self.total, "currency": self.currency,
               "reason": "fraudulent", "metadata": {}})
    }

    /// What must be booked of each thing: kind, id, paid, refunded, disputed.
    pub(super) fn booked(&self) -> Vec<String> {
        let (total, refunded) = (self.total, self.refunded());
        let mut rows = if self.is_invoice {
            vec![
                format!("invoice {} {total} 0 0", self.invoice()),
                format!("payment {} {total} {refunded} 0", self.intent()),
            ]
        } else {
            vec![format!("order {} {total} {refunded} 0", self.order())]
        };
        if !self.dispute.is_empty() {
            rows.push(format!("dispute {}_dp 0 0 {}", self.name, self.disputed()));
        }
        rows
    }

    /// What is left of it in cash, in minor units.
    pub(super) fn cash(&self) -> i64 {
        self.total - self.refunded() - self.disputed()
    }

    /// The customer's points: a point for each whole unit of money.
    pub(super) fn points(&self) -> i64 {
        let unit = if self.currency == "jpy" { 1 } else { 100 };
        if self.is_invoice {
            self.total / unit - self.refunded() / unit
        } else {
            (self.total - self.refunded()) / unit
        }
    }

    /// When the customer was last seen by it, in seconds: the checkout ends a second after the payment.
    pub(super) fn visited_at(&self) -> i64 {
        if self.is_invoice { self.paid_at } else { self.paid_at + 1 }
    }
}

/// The same event under another id: Stripe's other objects tell the same, and some senders number anew.
pub(super) fn rekeyed(event: &str) -> String {
    event.replacen("\"id\":\"evt_", "\"id\":\"evt_again_", 1)
}
