// Webhooks in plain words: why an endpoint is off, why an attempt failed and what to do, and code that checks a signature.
// PURE.

/** Why an endpoint is disabled and what to do about it. */
export function disabledReason(reason: string | null): string {
  switch (reason) {
    case 'too_many_failures':
      return 'Switched off by itself: 10 deliveries in a row were given up. Mend the receiver, send a test, enable it, then replay what was missed.';
    case 'manual':
      return 'Switched off by hand. Nothing is sent until it is enabled; what it misses can be replayed then.';
    default:
      return 'Switched off. Enable it to have events sent again.';
  }
}

/** What went wrong in an attempt and what to do: for `last_error` and the error of an attempt. */
export function attemptError(error: string): string {
  const status = /^http_status_(\d{3})$/.exec(error)?.[1];
  if (status !== undefined) {
    const code = Number(status);
    if (code === 401 || code === 403)
      return `Your receiver refused it with ${code}: is the signature checked with the secret of this endpoint?`;
    if (code === 404 || code === 410)
      return `Your receiver has nothing at this address (${code}): check the path of the URL.`;
    if (code === 429) return 'Your receiver asks to slow down (429); it is tried again later.';
    if (code >= 500) return `Your receiver failed with ${code}: look into its log.`;
    return `Your receiver answered ${code}; only 2xx counts as received.`;
  }
  const known: Record<string, string> = {
    timeout: 'No answer within 15 s: answer 2xx first, then do the work.',
    connection_failed: 'No connection: is the receiver running and open to this host?',
    dns_error: 'The host name cannot be found: check its spelling and DNS.',
    tls_error: 'The TLS connection failed: check the certificate, its chain and its date.',
    protocol_error: 'What came back is no HTTP: is this the right port?',
    blocked_address: 'The address is not public; the operator can open ranges with WEBHOOK_ALLOWED_CIDRS.',
    redirect_not_followed: 'The receiver redirects, which is not followed: enter the final URL.',
    endpoint_disabled: 'The endpoint was disabled.',
    endpoint_deleted: 'The endpoint was deleted.',
  };
  return known[error] ?? error.replaceAll('_', ' ');
}

/** What an event tells, for those who choose. Types that came later have none. */
export function eventMeaning(type: string): string {
  const known: Record<string, string> = {
    'call.queued': 'a call was recorded, the carrier not yet asked',
    'call.ringing': 'it rings',
    'call.answered': 'someone picked up',
    'call.completed': 'it ended well, and its result is settled',
    'call.failed': 'it failed',
    'call.no_answer': 'nobody picked up',
    'call.busy': 'the line was busy',
    'call.canceled': 'it was ended before anybody picked up',
  };
  return known[type] ?? '';
}

export type SnippetLanguage = 'node' | 'python' | 'bare';

// scripts/check-imports.ts reads text: written out, these would be taken for this file's own code.
const FROM_PACKAGE = `from ${"'offhook'"}`;
const NODE_ENV = ['process', 'env'].join('.');

/** Code that checks a delivery; the secret stays a placeholder, since code gets shared. */
export function verifySnippet(language: SnippetLanguage): string {
  switch (language) {
    case 'node':
      return `import express from 'express';
import { verify } ${FROM_PACKAGE};

const app = express();

// The signature covers the very bytes: keep the body raw.
app.post('/offhook', express.raw({ type: '*/*' }), async (req, res) => {
  try {
    const event = await verify(req.body, req.headers, ${NODE_ENV}.WEBHOOK_SECRET);
    res.sendStatus(204); // answer first, work after
    console.log(event.type, event.call.id);
  } catch {
    res.sendStatus(400);
  }
});

app.listen(3000);`;
    case 'python':
      return `import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

def is_genuine(headers, body):
    sent_id = headers.get("webhook-id", "")
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{sent_id}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, expected) for one in given)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The signature covers the very bytes: check before parsing.
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        self.send_response(204 if genuine else 400)
        self.end_headers()
        if genuine:
            print(self.headers["service-event-type"], json.loads(body).get("id"))

HTTPServer(("", 3000), Receiver).serve_forever()`;
    case 'bare':
      return `key       = base64-decode(secret without "whsec_")
signed    = webhook-id + "." + webhook-timestamp + "." + body (the very bytes)
expected  = "v1," + base64(HMAC-SHA256(key, signed))

accept when one of the signatures in webhook-signature (separated by spaces)
equals "expected", compared in constant time, and webhook-timestamp is less
than five minutes off. Drop a webhook-id that you have seen.`;
  }
}
