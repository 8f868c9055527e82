"""A mail server that takes mails into a file and answers by a script: smtp_server.py FOLDER PORT [CERTIFICATE KEY]

FOLDER/mood      {"mail": "550 no", "rcpt": null, "data": null, "delay": 0.0}, read for each mail
FOLDER/mails     a line of JSON for each mail that arrived, written before the answer
FOLDER/login     USER:PASSWORD; where it is there, nobody sends without
"""
import asyncio
import json
import os
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

folder, port = sys.argv[1], int(sys.argv[2])


def mood():
    with open(os.path.join(folder, 'mood')) as file:
        return json.load(file)


class Handler:
    async def handle_MAIL(self, server, session, envelope, address, options):
        if refusal := mood()['mail']:
            return refusal
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return '250 OK'

    async def handle_RCPT(self, server, session, envelope, address, options):
        if refusal := mood()['rcpt']:
            return refusal
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):
        now = mood()
        if not now['data']:
            mail = {'from': envelope.mail_from, 'to': envelope.rcpt_tos, 'tls': session.ssl is not None,
                    'raw': envelope.content.decode('utf-8', 'replace')}
            with open(os.path.join(folder, 'mails'), 'a') as file:
                file.write(json.dumps(mail) + '\n')
        await asyncio.sleep(now['delay'])
        return now['data'] or '250 2.0.0 taken'


def authenticator(server, session, envelope, mechanism, given):
    with open(os.path.join(folder, 'login')) as file:
        user, password = file.read().split(':', 1)
    known = (given.login.decode(), given.password.decode()) == (user, password)
    return AuthResult(success=known, handled=False)  # the server is to answer itself


more = {}
if len(sys.argv) > 3:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    more = {'tls_context': context, 'require_starttls': True}
if os.path.exists(os.path.join(folder, 'login')):
    more |= {'authenticator': authenticator, 'auth_required': True, 'auth_require_tls': 'tls_context' in more}
Controller(Handler(), hostname='127.0.0.1', port=port, **more).start()
print('ready', flush=True)
asyncio.new_event_loop().run_forever()
