"""localstripe on a port of this machine, with the events that it leaves out, told as Stripe tells them.

What is added: the events of a payment besides its success and failure, of charges, refunds and invoices; a charge has the
metadata of its payment; events are listed newest first, and now and then not at once; `/_config/pending` counts the
webhooks that are still to be tried.
"""

import sys

from aiohttp import web
from localstripe import resources, webhooks
from localstripe.resources import Charge, Event, Invoice, PaymentIntent, Refund

resources.store.dump_to_disk = lambda: None

pending = 0
send = webhooks._send_webhook


async def counted(event):
    global pending
    pending += 1
    try:
        await send(event)
    finally:
        pending -= 1


webhooks._send_webhook = counted


def tell(type, about):
    resources.schedule_webhook(Event(type, about))


def after(cls, name, then):
    """Calls `then` with the object once its method has ended without a failure."""
    inner = getattr(cls, name)

    def outer(self, *args, **kwargs):
        result = inner(self, *args, **kwargs)
        then(self)
        return result

    setattr(cls, name, outer)


def after_call(cls, name, then):
    """Calls `then` with what a call of the API returned."""
    inner = getattr(cls, name)

    def outer(*args, **kwargs):
        result = inner(*args, **kwargs)
        then(result)
        return result

    for place, (method, url, call) in enumerate(resources.extra_apis):
        if call == inner:
            resources.extra_apis[place] = (method, url, outer)
    setattr(cls, name, staticmethod(outer))


def intent_of(charge):
    return charge.payment_intent and PaymentIntent._api_retrieve(charge.payment_intent)


begin_charge = Charge._initialize_charge


def begin(self, *args, **kwargs):
    intent = intent_of(self)
    if intent:
        self.metadata = dict(intent.metadata)
    begin_charge(self, *args, **kwargs)
    if intent and intent.status == "processing":
        tell("payment_intent.processing", intent)
    if self.status == "succeeded":
        tell("charge.succeeded", self)
    if intent and intent.status == "requires_capture":
        tell("payment_intent.amount_capturable_updated", intent)
    # Where an invoice is paid at once, the fake says nothing of a failure.
    if intent and intent.invoice and self.status == "failed":
        tell("payment_intent.payment_failed", intent)
        tell("invoice.payment_failed", Invoice._api_retrieve(intent.invoice))


Charge._initialize_charge = begin
after(Charge, "_capture", lambda charge: tell("charge.captured", charge))
after(PaymentIntent, "__init__", lambda intent: tell("payment_intent.created", intent))
after(Refund, "__init__", lambda refund: tell("charge.refunded", Charge._api_retrieve(refund.charge)))
after(Invoice, "_finalize", lambda invoice: tell("invoice.finalized", invoice))
after(Invoice, "_on_payment_success", lambda invoice: tell("invoice.paid", invoice))
after_call(PaymentIntent, "_api_cancel", lambda intent: tell("payment_intent.canceled", intent))
after_call(Invoice, "_api_void_invoice", lambda invoice: tell("invoice.voided", invoice))

list_events = Event._api_list_all.__func__


def newest_first(cls, url, **query):
    listed = list_events(cls, url, **query)
    listed._list.reverse()
    return listed


Event._api_list_all = classmethod(newest_first)

from localstripe import server  # noqa: E402: it takes the calls over as they are now

asked = 0


@web.middleware
async def limited(request, handler):
    """Of three reads of the events one comes too soon."""
    global asked
    if request.path == "/v1/events":
        asked += 1
        if asked % 3 == 2:
            return web.Response(status=429, headers={"Retry-After": "0.2"})
    return await handler(request)


server.app.middlewares.append(limited)


async def count(request):
    return web.json_response(pending)


server.app.router.add_get("/_config/pending", count)
web.run_app(server.app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
