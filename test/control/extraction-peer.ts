// A server of extraction models on real HTTP for the tests: Responses API and Chat Completions, scripted reply by reply.
// It refuses what the real one refuses: a wrong key, and a schema that breaks the strict rules.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Schema = Record<string, unknown>;

export interface Asked {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
  /** As it came. */
  text: string;
  schema: Schema;
}

export type Reply = (asked: Asked, response: ServerResponse) => void;

const KEYWORDS =
  /^(type|description|properties|required|additionalProperties|items|enum|anyOf|const|pattern|format|minimum|maximum|multipleOf|minItems|maxItems)$/;

/** What breaks the strict rules of a schema (OpenAI's guide to structured outputs), or null. */
export function strictFault(schema: unknown, path = '$'): string | null {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return `${path} is no schema`;
  const s = schema as Schema;
  const unknown = Object.keys(s).find((key) => !KEYWORDS.test(key));
  if (unknown !== undefined) return `${path}.${unknown} is not permitted`;
  if (path === '$' && s.type !== 'object') return 'the root must be an object';
  if (s.type === 'object') {
    const properties = s.properties as Schema;
    const required = s.required as string[];
    if (s.additionalProperties !== false) return `${path} must have additionalProperties false`;
    const all = Object.keys(properties);
    if (required.length !== all.length || !all.every((name) => required.includes(name))) {
      return `${path} must require all its properties`;
    }
    for (const name of all) {
      const fault = strictFault(properties[name], `${path}.${name}`);
      if (fault !== null) return fault;
    }
  }
  return s.items === undefined ? null : strictFault(s.items, `${path}[]`);
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-request-id': 'req_test',
    ...headers,
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};

function responsesBody(content: unknown[], more: object = {}, before: unknown[] = []) {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [...before, { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
    usage: USAGE,
    ...more,
  };
}

function chatBody(message: object, finish = 'stop') {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', ...message } }],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}

const isChat = (asked: Asked) => asked.path.endsWith('/chat/completions');

/** A model's text, in the shape of the interface it was asked through. */
export const says =
  (text: string): Reply =>
  (asked, response) =>
    send(
      response,
      200,
      isChat(asked)
        ? chatBody({ content: text, refusal: null })
        : responsesBody([{ type: 'output_text', text, annotations: [] }]),
    );

/** The right form of an answer: these fields, and a reason for each that is null. */
export function answer(fields: Record<string, unknown>): string {
  const reasons = Object.entries(fields).map(([name, value]) => [name, value === null ? 'not said' : null]);
  return JSON.stringify({ fields, not_stated: Object.fromEntries(reasons) });
}

export const fills = (fields: Record<string, unknown>): Reply => says(answer(fields));

/** A reasoning item and a remark come before the answer. */
export const reasonsThenFills =
  (fields: Record<string, unknown>): Reply =>
  (_asked, response) =>
    send(
      response,
      200,
      responsesBody([{ type: 'output_text', text: answer(fields), annotations: [] }], {}, [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [],
          content: [{ type: 'reasoning_text', text: '{"fields":{}}' }],
        },
        {
          type: 'message',
          id: 'msg_0',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me see.' }],
        },
      ]),
    );

export const refuses: Reply = (asked, response) =>
  send(
    response,
    200,
    isChat(asked)
      ? chatBody({ content: null, refusal: 'I cannot help with that.' })
      : responsesBody([{ type: 'refusal', refusal: 'I cannot help with that.' }]),
  );

/** Stops before the end: `length` or `content_filter`, with half a JSON text. */
export const stops =
  (why: 'length' | 'content_filter'): Reply =>
  (asked, response) =>
    send(
      response,
      200,
      isChat(asked)
        ? chatBody({ content: '{"fields":{"conf', refusal: null }, why)
        : responsesBody([{ type: 'output_text', text: '{"fields":{"conf', annotations: [] }], {
            status: 'incomplete',
            incomplete_details: { reason: why === 'length' ? 'max_output_tokens' : 'content_filter' },
          }),
    );

export const responseFails: Reply = (_asked, response) =>
  send(response, 200, {
    ...responsesBody([]),
    status: 'failed',
    output: [],
    error: { code: 'server_error', message: 'oops' },
  });

export const errs =
  (status: number, code: string | null = null, headers: Record<string, string> = {}): Reply =>
  (asked, response) =>
    // Some servers quote the request in their errors.
    send(
      response,
      status,
      { error: { message: `no: ${asked.text}`, type: 'x', code, param: null } },
      headers,
    );

export const sends =
  (body: unknown, headers: Record<string, string> = {}): Reply =>
  (_asked, response) =>
    send(response, 200, body, headers);

export const hangs: Reply = () => {};

export const hangsInTheBody: Reply = (_asked, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"id":');
};

export const resets: Reply = (_asked, response) => response.socket?.destroy();

export const resetsInTheBody: Reply = (_asked, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":', () => response.socket?.destroy());
};

/** To another path of this same peer, where a client that follows would be seen. */
export const redirects: Reply = (_asked, response) =>
  response.writeHead(307, { location: '/v1/elsewhere' }).end();

export const API_KEY = 'test-key-0123456789';

/** Opens the peer. The n-th request gets the n-th reply; the last reply serves all further ones. */
export async function openPeer(...replies: [Reply, ...Reply[]]) {
  const asked: Asked[] = [];
  const script = [...replies];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const path = request.url ?? '';
    const body = JSON.parse(text) as Record<string, unknown>;
    const format = (
      isChat({ path } as Asked)
        ? (body.response_format as Schema | undefined)?.json_schema
        : (body.text as Schema | undefined)?.format
    ) as Schema;
    const one: Asked = { path, headers: request.headers, body, text, schema: format.schema as Schema };
    asked.push(one);
    const reply = script.length > 1 ? script.shift() : script[0];
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return errs(401, 'invalid_api_key')(one, response);
    if (
      format.strict !== true ||
      !/^[A-Za-z0-9_-]{1,64}$/.test(String(format.name)) ||
      strictFault(one.schema)
    ) {
      return errs(400, 'invalid_json_schema')(one, response);
    }
    reply?.(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    openai: { apiKey: API_KEY, baseUrl: `${origin}/v1` },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
