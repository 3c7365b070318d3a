// An order line: a number that an agent answers, with a tool of yours that it calls while it talks. PORT=3000 node examples/order-line.ts
// OFFHOOK_URL and OFFHOOK_API_KEY say which daemon, and as whom.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Offhook } from 'offhook';

const ORDERS: Record<string, { status: string; delivery_date: string }> = {
  '1042': { status: 'shipped', delivery_date: 'Thursday' },
};

// What the agent's tool asks: the arguments as JSON. Its answer is told to the caller in the agent's words.
const server = createServer(async (request, response) => {
  const { order_number } = (await json(request)) as { order_number?: string };
  console.log('looked up', order_number);
  const order = ORDERS[order_number ?? ''] ?? { error: 'There is no order with this number.' };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(order));
});
const port = Number(process.env.PORT ?? 3000);
await new Promise<void>((listening) => server.listen(port, listening));

const offhook = new Offhook({ baseUrl: process.env.OFFHOOK_URL, apiKey: process.env.OFFHOOK_API_KEY });
const free = (await offhook.numbers.list()).data.find((number) => number.inbound_agent_id === null);
if (free === undefined) throw new Error('Buy a number first: offhook numbers buy');

await offhook.agents.create({
  name: 'Order line',
  type: 'inbound',
  instructions: 'Ask for the order number, look the order up, and tell the caller when it arrives.',
  number_ids: [free.id],
  tools: [
    {
      type: 'http',
      name: 'lookup_order',
      description: 'Finds an order by its number and says when it arrives.',
      parameters: {
        type: 'object',
        properties: { order_number: { type: 'string', description: 'As the caller says it.' } },
        required: ['order_number'],
      },
      // On a private address, the daemon reaches it by WEBHOOK_ALLOWED_CIDRS.
      url: process.env.TOOL_URL ?? `http://127.0.0.1:${port}/orders`,
      method: 'POST',
    },
  ],
});
console.log('call', free.e164);
