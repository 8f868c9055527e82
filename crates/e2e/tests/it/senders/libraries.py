"""Does what standard input asks of the senders' own libraries: a list of requests, a list of answers.

{"library", "do": "sign", "secret", "body", "seconds", "id"} -> headers
{"library", "do": "verify", "secret", "body", "headers"}     -> whether the library accepts it
"""

import json
import sys
from datetime import datetime, timezone

import stripe
from standardwebhooks import Webhook, WebhookVerificationError


def stripe_sign(ask):
    made = stripe.WebhookSignature.generate_signature_header(ask["body"], ask["secret"], ask["seconds"])
    return {"stripe-signature": made}


def stripe_verify(ask):
    try:
        stripe.WebhookSignature.verify_header(
            ask["body"], ask["headers"].get("stripe-signature"), ask["secret"], tolerance=300
        )
        return True
    except stripe.SignatureVerificationError:
        return False


def standard_sign(ask):
    at = datetime.fromtimestamp(ask["seconds"], timezone.utc)
    return {
        "webhook-id": ask["id"],
        "webhook-timestamp": str(ask["seconds"]),
        "webhook-signature": Webhook(ask["secret"]).sign(ask["id"], at, ask["body"]),
    }


def standard_verify(ask):
    try:
        Webhook(ask["secret"]).verify(ask["body"], ask["headers"])
        return True
    except WebhookVerificationError:
        return False


WORK = {
    ("stripe", "sign"): stripe_sign,
    ("stripe", "verify"): stripe_verify,
    ("standardwebhooks", "sign"): standard_sign,
    ("standardwebhooks", "verify"): standard_verify,
}

asked = json.loads(sys.stdin.buffer.read().decode("utf-8"))
print(json.dumps([WORK[ask["library"], ask["do"]](ask) for ask in asked]))
