// The route of calls from a browser, for trying an agent out. It belongs to the session-only API: whoever mounts it has
// let in the person and knows the organization. The talk itself is the bridge's.
import { z } from 'zod';
import { pageCall as body } from '../api/call-schemas.ts';
import { pageCall } from '../api/new-call.ts';
import { type Route, route } from '../http/route.ts';
import { id } from '../http/schemas.ts';

/** A minute, where a silence of twelve seconds makes the agent ask: words are typed slower than spoken. */
const TYPING_PATIENCE = 5;

export const browserCallRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/dashboard/api/browser_calls',
    operation: 'createBrowserCall',
    errors: [
      'agent_not_found',
      'agent_archived',
      'invalid_model',
      'invalid_voice',
      'invalid_language',
      'invalid_returns',
      'invalid_tool',
      'invalid_url',
      'blocked_address',
      'insufficient_credit',
      'at_capacity',
      'draining',
      'storage_low',
    ],
    summary: 'Open a call in the browser',
    status: 201,
    body,
    answer: z.strictObject({
      call_id: id.describe('The call, as any other to be read at /v1/calls.'),
      stream_path: z.string().describe('Where its media socket is awaited, on this host; for some seconds.'),
      token: z.string().describe("What the socket's start message must bring. It holds once."),
    }),
    async run({ body, calls, ...parts }) {
      const patience = body.text_only === true ? TYPING_PATIENCE : 1;
      const { call, path, token } = await calls.awaitStream(await pageCall(parts, body), { patience });
      return { body: { call_id: call.id, stream_path: path, token } };
    },
  }),
];
