// Does what standard input asks of the senders' own libraries: a list of requests, a list of answers.
//
// {"library", "do": "sign", "secret", "body", "seconds", "id"} -> headers
// {"library", "do": "verify", "secret", "body", "headers"}     -> whether the library accepts it

import { readFileSync } from "node:fs";
import { sign, verify } from "@octokit/webhooks-methods";
import standard from "standardwebhooks";
import Stripe from "stripe";

const { Webhook, WebhookVerificationError } = standard;
const stripe = new Stripe("sk_test_nobody");

const accepts = (isRefusal, check) => {
  try {
    check();
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
};

const work = {
  "octokit sign": async ({ secret, body }) => ({ "x-hub-signature-256": await sign(secret, body) }),
  "octokit verify": ({ secret, body, headers }) => verify(secret, body, headers["x-hub-signature-256"]),
  "stripe sign": ({ secret, body, seconds }) => ({
    "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds }),
  }),
  "stripe verify": ({ secret, body, headers }) =>
    accepts(
      (error) => error instanceof Stripe.errors.StripeSignatureVerificationError,
      () => stripe.webhooks.constructEvent(body, headers["stripe-signature"], secret),
    ),
  "standardwebhooks sign": ({ secret, body, seconds, id }) => ({
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": new Webhook(secret).sign(id, new Date(seconds * 1000), body),
  }),
  "standardwebhooks verify": ({ secret, body, headers }) =>
    accepts(
      (error) => error instanceof WebhookVerificationError,
      () => new Webhook(secret).verify(body, headers),
    ),
};

const answers = [];
for (const ask of JSON.parse(readFileSync(0, "utf8"))) answers.push(await work[`${ask.library} ${ask.do}`](ask));
console.log(JSON.stringify(answers));
