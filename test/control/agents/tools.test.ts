// Tools: what a client may give, hostile schemas, headers and URLs, and what the model is told.
import t from 'tap';
import { compileParameters, faultOfParameters } from '../../../control/agents/tool-schema.ts';
import { modelTools, parseTools, toolUrls } from '../../../control/agents/tools.ts';

const http = {
  type: 'http',
  name: 'book_table',
  description: 'Books a table',
  parameters: {
    type: 'object',
    properties: { people: { type: 'integer', minimum: 1 }, day: { type: 'string', format: 'date' } },
    required: ['people', 'day'],
  },
  url: 'https://api.example.com/book?shop=7',
  method: 'POST',
  headers: { authorization: 'Bearer secret-value' },
  timeout_ms: 5000,
  speak_first: 'One moment, I am looking.',
};

function paramOf(tools: unknown): { code: unknown; param: unknown; message: string } {
  try {
    parseTools(tools);
  } catch (error) {
    return error as { code: unknown; param: unknown; message: string };
  }
  throw new Error('was taken');
}

t.test('what a client may give comes back, with defaults', async (t) => {
  t.equal(parseTools(null), null);
  t.equal(parseTools(undefined), null);
  t.strictSame(parseTools([]), []);
  t.strictSame(parseTools([http]), [http]);
  t.strictSame(parseTools([{ type: 'http', name: 'x', description: 'd', url: 'http://10.0.0.1:8080/x' }]), [
    {
      type: 'http',
      name: 'x',
      description: 'd',
      parameters: { type: 'object', properties: {} },
      url: 'http://10.0.0.1:8080/x',
      method: 'POST',
      timeout_ms: 10_000,
    },
  ]);
  const others = [
    { type: 'end_call' },
    { type: 'transfer_call', targets: [{ name: 'Sales', number: '+14155550123' }] },
    { type: 'send_dtmf' },
  ];
  t.strictSame(parseTools(others), others);
});

const without = (key: keyof typeof http) => {
  const { [key]: _, ...rest } = http;
  return rest;
};

const refused: [string, unknown, string][] = [
  ['an object', {}, 'tools'],
  ['a text', 'end_call', 'tools'],
  ['21 tools', Array.from({ length: 21 }, (_, i) => ({ ...http, name: `t${i}` })), 'tools'],
  ['a text in the list', ['end_call'], 'tools[0]'],
  ['null in the list', [null], 'tools[0]'],
  ['no type', [{ name: 'x' }], 'tools[0].type'],
  ['an unknown type', [{ type: 'shell' }], 'tools[0].type'],
  ['an unknown field', [{ ...http, retries: 3 }], 'tools[0].retries'],
  ['an unknown field of end_call', [{ type: 'end_call', name: 'x' }], 'tools[0].name'],
  ['no name', [without('name')], 'tools[0].name'],
  ['a name with a space', [{ ...http, name: 'a b' }], 'tools[0].name'],
  ['a long name', [{ ...http, name: 'a'.repeat(65) }], 'tools[0].name'],
  ['a reserved name', [{ ...http, name: 'end_call' }], 'tools[0].name'],
  ['another reserved name', [{ ...http, name: 'transfer_call' }], 'tools[0].name'],
  ['the same name twice', [http, { ...http }], 'tools[1].name'],
  ['end_call twice', [{ type: 'end_call' }, { type: 'end_call' }], 'tools[1].type'],
  ['no description', [without('description')], 'tools[0].description'],
  ['a blank description', [{ ...http, description: ' ' }], 'tools[0].description'],
  ['no URL', [without('url')], 'tools[0].url'],
  ['a relative URL', [{ ...http, url: '/book' }], 'tools[0].url'],
  ['a file URL', [{ ...http, url: 'file:///etc/passwd' }], 'tools[0].url'],
  ['a javascript URL', [{ ...http, url: 'javascript:alert(1)' }], 'tools[0].url'],
  ['user info in a URL', [{ ...http, url: 'https://a:b@example.com/' }], 'tools[0].url'],
  ['a fragment', [{ ...http, url: 'https://example.com/#x' }], 'tools[0].url'],
  ['a placeholder in the host', [{ ...http, url: 'https://{host}/x' }], 'tools[0].url'],
  ['a placeholder in the path', [{ ...http, url: 'https://example.com/{id}' }], 'tools[0].url'],
  ['a long URL', [{ ...http, url: `https://example.com/${'x'.repeat(2048)}` }], 'tools[0].url'],
  ['an unknown method', [{ ...http, method: 'CONNECT' }], 'tools[0].method'],
  ['a small method', [{ ...http, method: 'get' }], 'tools[0].method'],
  ['a timeout of 99 ms', [{ ...http, timeout_ms: 99 }], 'tools[0].timeout_ms'],
  ['a timeout of 20001 ms', [{ ...http, timeout_ms: 20_001 }], 'tools[0].timeout_ms'],
  ['a broken timeout', [{ ...http, timeout_ms: 100.5 }], 'tools[0].timeout_ms'],
  ['the Host header', [{ ...http, headers: { Host: 'x' } }], 'tools[0].headers.Host'],
  ['a length header', [{ ...http, headers: { 'content-length': '0' } }], 'tools[0].headers.content-length'],
  [
    'a hop-by-hop header',
    [{ ...http, headers: { 'Transfer-Encoding': 'chunked' } }],
    'tools[0].headers.Transfer-Encoding',
  ],
  ['a header twice', [{ ...http, headers: { 'X-A': '1', 'x-a': '2' } }], 'tools[0].headers.x-a'],
  ['a header name with a space', [{ ...http, headers: { 'x a': '1' } }], 'tools[0].headers.x a'],
  ['a header name with a line end', [{ ...http, headers: { 'x\r\ny': '1' } }], 'tools[0].headers.x\r\ny'],
  ['a header value with a line end', [{ ...http, headers: { x: 'a\r\nhost: b' } }], 'tools[0].headers.x'],
  ['a header value that is no text', [{ ...http, headers: { x: 1 } }], 'tools[0].headers.x'],
  ['a line to speak that is no line', [{ ...http, speak_first: 'a\nb' }], 'tools[0].speak_first'],
  ['no targets', [{ type: 'transfer_call', targets: [] }], 'tools[0].targets'],
  [
    'a target without a number',
    [{ type: 'transfer_call', targets: [{ name: 'x' }] }],
    'tools[0].targets[0].number',
  ],
  [
    'a target that is no E.164',
    [{ type: 'transfer_call', targets: [{ name: 'x', number: '911' }] }],
    'tools[0].targets[0].number',
  ],
  [
    'a SIP target',
    [{ type: 'transfer_call', targets: [{ name: 'x', number: 'sip:a@b' }] }],
    'tools[0].targets[0].number',
  ],
  [
    'two targets of one name',
    [
      {
        type: 'transfer_call',
        targets: [
          { name: 'x', number: '+14155550123' },
          { name: 'X', number: '+14155550124' },
        ],
      },
    ],
    'tools[0].targets',
  ],
  [
    'an argument that the query fixes',
    [{ ...http, method: 'GET', parameters: { type: 'object', properties: { shop: { type: 'string' } } } }],
    'tools[0].parameters',
  ],
];
for (const [name, tools, param] of refused) {
  t.test(`refused: ${name}`, async (t) => {
    t.match(paramOf(tools), { code: 'invalid_tool', param });
  });
}

t.test('the same argument in a body is no clash with the query', async (t) => {
  t.ok(parseTools([{ ...http, parameters: { type: 'object', properties: { shop: { type: 'string' } } } }]));
});

let deep: unknown = { type: 'string' };
for (let i = 0; i < 5000; i += 1) deep = { type: 'object', properties: { a: deep } };
const object = (properties: unknown, more: object = {}) => ({ type: 'object', properties, ...more });

const hostile: [string, unknown][] = [
  ['no object', 'x'],
  ['null', null],
  ['a list', []],
  ['true', true],
  ['no type', { properties: {} }],
  ['another type', { type: 'array', items: { type: 'string' } }],
  ['a type list at the root', { type: ['object', 'null'] }],
  ['a reference', object({ a: { $ref: '#' } })],
  ['a remote reference', object({ a: { $ref: 'http://169.254.169.254/' } })],
  ['an id', object({}, { $id: 'x' })],
  ['definitions', object({}, { $defs: {} })],
  ['$schema', object({}, { $schema: 'http://json-schema.org/draft-07/schema#' })],
  ['$data', object({ a: { type: 'number', minimum: { $data: '1/b' } } })],
  ['a pattern that runs for ever', object({ a: { type: 'string', pattern: '^(a+)+$' } })],
  ['patternProperties', object({}, { patternProperties: { '^(a+)+$': {} } })],
  ['an open object', object({}, { additionalProperties: true })],
  ['an open object by schema', object({}, { additionalProperties: { type: 'string' } })],
  ['an open object inside', object({ a: object({}, { additionalProperties: true }) })],
  ['uniqueItems', object({ a: { type: 'array', items: { type: 'string' }, uniqueItems: true } })],
  ['oneOf', object({ a: { oneOf: [{ type: 'string' }] } })],
  ['not', object({ a: { not: {} } })],
  ['if', object({}, { if: {} })],
  ['an unknown format', object({ a: { type: 'string', format: 'regex' } })],
  ['a format of the prototype', object({ a: { type: 'string', format: 'constructor' } })],
  ['an empty schema', object({ a: {} })],
  ['a boolean schema', object({ a: true })],
  ['an unknown type inside', object({ a: { type: 'any' } })],
  ['properties as a list', object([])],
  ['required that is no list', object({}, { required: 'a' })],
  ['a minimum that is a text', object({ a: { type: 'number', minimum: '1' } })],
  ['a negative length', object({ a: { type: 'string', minLength: -1 } })],
  ['an empty enum', object({ a: { enum: [] } })],
  ['tuple items', object({ a: { type: 'array', items: [{ type: 'string' }] } })],
  ['an empty anyOf', object({ a: { anyOf: [] } })],
  ['a name with code in it', object({ 'a"]);process.exit(1);//': { type: 'string' } })],
  ['__proto__ as a name', object(JSON.parse('{"__proto__": {"type": "string"}}'))],
  ['5000 levels', deep],
  ['over 16 KB', object({ a: { type: 'string', description: 'x'.repeat(17_000) } })],
];
for (const [name, schema] of hostile) {
  t.test(`parameters refused: ${name}`, async (t) => {
    t.type(faultOfParameters(schema), 'string');
    const error = paramOf([{ ...http, parameters: schema }]);
    t.equal(error.code, 'invalid_tool');
    t.equal(error.param, 'tools[0].parameters');
    t.ok(error.message.length < 700, 'a message a person can read');
  });
}

t.test('arguments are checked as they are, and every object is closed', async (t) => {
  const check = compileParameters({
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1 },
      day: { type: 'string', format: 'date' },
      who: { type: 'object', properties: { mail: { type: 'string', format: 'email' } }, required: ['mail'] },
      list: { type: 'array', items: { type: 'object', properties: {} } },
      either: { anyOf: [{ type: 'null' }, { type: 'object', properties: { x: { type: 'boolean' } } }] },
      constructor: { type: 'string' },
    },
    required: ['n'],
  });
  const right: unknown[] = [
    { n: 1 },
    { n: 2, day: '2028-02-29' },
    { n: 1, who: { mail: 'a@b.example' } },
    { n: 1, list: [{}] },
    { n: 1, either: null },
    { n: 1, either: { x: true } },
    { n: 1, constructor: 'x' },
  ];
  for (const args of right) t.equal(check(args), null, JSON.stringify(args));
  const wrong: unknown[] = [
    {},
    null,
    [],
    'x',
    { n: '1' },
    { n: 1.5 },
    { n: 0 },
    { n: 1, day: '2026-02-29' },
    { n: 1, day: 'secret words' },
    { n: 1, extra: 1 },
    { n: 1, who: { mail: 'a@b.example', admin: true } },
    { n: 1, who: { mail: 'nobody' } },
    { n: 1, list: [{ x: 1 }] },
    { n: 1, either: { y: 1 } },
    { n: 1, constructor: 7 },
    JSON.parse('{"n":1,"__proto__":{"admin":true}}'),
    Object.create({ n: 1 }),
  ];
  for (const args of wrong) {
    const fault = check(args);
    t.type(fault, 'string', JSON.stringify(args));
    t.notMatch(fault, 'secret');
  }
});

t.test('the model is told names and schemas, and never numbers, URLs or headers', async (t) => {
  t.strictSame(
    modelTools(null, { optOut: true }).map((tool) => tool.name),
    ['end_call', 'do_not_call'],
    'where the other side has a number',
  );
  t.same(
    modelTools(null).map((tool) => tool.name),
    ['end_call'],
  );
  const tools = parseTools([
    http,
    {
      type: 'transfer_call',
      targets: [
        { name: 'Sales', number: '+14155550123' },
        { name: 'Front desk', number: '+14155550124' },
      ],
    },
    { type: 'end_call' },
    { type: 'send_dtmf' },
  ]);
  const told = modelTools(tools);
  t.strictSame(
    told.map((tool) => tool.name),
    ['end_call', 'book_table', 'transfer_call', 'send_dtmf'],
  );
  t.equal(
    told[1]?.description,
    'Books a table\nBefore you use it, say exactly this and nothing else: "One moment, I am looking."',
    'its line is told with what it is for',
  );
  t.strictSame(told[1]?.parameters, { ...http.parameters, additionalProperties: false });
  t.match(told[0]?.parameters, { properties: { reason: { type: 'string' } }, required: [] });
  t.match(told[2]?.parameters, {
    properties: { target: { enum: ['Sales', 'Front desk'] } },
    required: ['target'],
  });
  const { pattern } = (told[3]!.parameters as { properties: { digits: { pattern: string } } }).properties
    .digits;
  for (const digits of ['1', '*#09', '1w2']) t.match(digits, new RegExp(pattern), digits);
  for (const digits of ['', 'a', '+1', '1 2', '1'.repeat(33)])
    t.notMatch(digits, new RegExp(pattern), digits);
  const text = JSON.stringify(told);
  for (const secret of ['+1415', 'example.com', 'secret-value', 'speak_first', 'timeout'])
    t.notOk(text.includes(secret), secret);
  t.strictSame(toolUrls(tools), [{ url: http.url, param: 'tools[0].url' }]);
  t.strictSame(toolUrls(null), []);
});

t.test('the line of a tool with a long description is told with its parameters', async (t) => {
  const long = 'Books a table. '.repeat(66).trim();
  const [, tool] = modelTools(parseTools([{ ...http, description: long }]));
  t.equal(tool?.description, long);
  t.match(tool?.parameters, {
    type: 'object',
    description: 'Before you use it, say exactly this and nothing else: "One moment, I am looking."',
  });
  const [, plain] = modelTools(parseTools([{ ...http, description: long, speak_first: undefined }]));
  t.equal(plain?.parameters.description, undefined);
});
