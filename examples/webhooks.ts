// Receives webhooks, verifies each signature, and acts once on each event. PORT=3001 WEBHOOK_URL=https://… node examples/webhooks.ts
// OFFHOOK_URL and OFFHOOK_API_KEY say which daemon, and as whom.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Offhook } from 'offhook';

const offhook = new Offhook({ baseUrl: process.env.OFFHOOK_URL, apiKey: process.env.OFFHOOK_API_KEY });
// Kept in a database, so that a restart does not forget them.
const seen = new Set<string>();
let secret = '';

const server = createServer(async (request, response) => {
  try {
    // The body as it came: JSON that was parsed and written again has another signature.
    const event = await offhook.webhooks.verify(await text(request), request.headers, secret);
    if (!seen.has(event.id)) console.log(event.type, event.call.id, event.call.status);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    console.log('refused:', (error as Error).message);
    response.writeHead(400).end();
  }
});
const port = Number(process.env.PORT ?? 3001);
await new Promise<void>((listening) => server.listen(port, listening));

// The secret is told this once. In production it is made once too, and kept where secrets are.
const endpoint = await offhook.webhookEndpoints.create({
  // On a private address, the daemon reaches it by WEBHOOK_ALLOWED_CIDRS.
  url: process.env.WEBHOOK_URL ?? `http://127.0.0.1:${port}/`,
  enabled_events: ['call.answered', 'call.completed', 'call.failed'],
});
secret = endpoint.secret;
console.log('listening');
