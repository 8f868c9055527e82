#!/usr/bin/env python3
"""Works on effects from a JetStream stream, each once: consumer.py [--server URL] [--stream NAME] [--durable NAME] …

A durable pull consumer: the server remembers how far this consumer is, so any number of copies may run, and be killed.
Each effect's id (Nats-Msg-Id) is kept in the transaction of the work itself. So what comes again, from the publisher or
from JetStream, is known and only acknowledged. The acknowledgement follows the commit: a copy that is killed before it
leaves work that comes again and is known.
"""
import argparse
import asyncio
import json
import signal
import sqlite3
import sys

import nats
from nats.js.api import AckPolicy, ConsumerConfig

BATCH = 50  # most effects that are fetched at once
RETRY_AFTER = 5  # seconds until an effect whose work failed comes again


def opened(path):
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    database.executescript("""
        pragma journal_mode = wal;
        create table if not exists done (effect_id text primary key);
        create table if not exists points (resource text primary key, effects integer not null);
    """)
    return database


def work(database, message):
    """The work of this example: counts effects by resource. Yours goes here, in the same transaction."""
    resource = f"{message['data']['source']}/{message['data']['id']}"
    database.execute('insert into points values (?, 1) on conflict (resource) do update set effects = effects + 1',
                     (resource,))


def once(database, effect_id, message):
    """Does the work unless it is done. Says whether it was new."""
    database.execute('begin immediate')
    try:
        new = database.execute('insert into done values (?) on conflict do nothing', (effect_id,)).rowcount == 1
        if new:
            work(database, message)
        database.execute('commit')
        return new
    except BaseException:
        database.execute('rollback')
        raise


async def consume(options, stop):
    database = opened(options.database)
    connection = await nats.connect(options.server, name='ordem-consumer', max_reconnect_attempts=-1)
    try:
        config = ConsumerConfig(ack_policy=AckPolicy.EXPLICIT, ack_wait=options.ack_wait)
        subscription = await connection.jetstream().pull_subscribe(
            options.subject, durable=options.durable, stream=options.stream, config=config)
        new = known = idle = 0
        while not stop.is_set() and (options.until_idle is None or idle < options.until_idle):
            try:
                messages = await subscription.fetch(BATCH, timeout=1)
            except asyncio.TimeoutError:  # nothing came; the library's own error is one of these
                idle += 1
                continue
            idle = 0
            for message in messages:
                effect_id = (message.headers or {}).get('Nats-Msg-Id')
                if effect_id is None:
                    await message.term()  # not from Ordem: it would come again for ever
                    continue
                try:
                    is_new = once(database, effect_id, json.loads(message.data))
                except Exception as error:  # the work failed: the effect comes again
                    print(f'{effect_id}: {error}', file=sys.stderr)
                    await message.nak(delay=RETRY_AFTER)
                    continue
                await message.ack()
                new, known = new + is_new, known + (not is_new)
        print(json.dumps({'new': new, 'known': known}), flush=True)
    finally:
        await connection.close()
        database.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--server', default='nats://127.0.0.1:4222')
    parser.add_argument('--stream', default='ORDEM')
    parser.add_argument('--subject', default='ordem.>', help='which of the stream, such as ordem.order.receipt')
    parser.add_argument('--durable', default='points', help='one name for all copies of this consumer')
    parser.add_argument('--database', default='points.db')
    parser.add_argument('--ack-wait', type=float, default=30, metavar='SECONDS',
                        help='how long JetStream waits before it hands out again; only when the consumer is new')
    parser.add_argument('--until-idle', type=int, metavar='SECONDS', help='end when nothing came for so long')
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await consume(parser.parse_args(), stop)


asyncio.run(main())
