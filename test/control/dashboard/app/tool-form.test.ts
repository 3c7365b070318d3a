// An agent's tools as forms have them, and back.
import t from 'tap';
import { faultOfParameters } from '../../../../control/agents/tool-schema.ts';
import { parseTools } from '../../../../control/agents/tools.ts';
import {
  emptyParameter,
  type ParameterRow,
  parameterFaults,
  parameterRowsOf,
  schemaOf,
} from '../../../../control/dashboard/app/forms/parameters-table.ts';
import { ofText } from '../../../../control/dashboard/app/forms/table-text.ts';
import {
  isSecretHeader,
  newHttpTool,
  plainNumber,
  type ToolForm,
  toolFaults,
  toolFormsOf,
  toolsOf,
} from '../../../../control/dashboard/app/forms/tool-form.ts';

const row = (name: string, more: Partial<ParameterRow> = {}): ParameterRow => ({
  ...emptyParameter(),
  name,
  ...more,
});

t.test('rows of parameters -> a schema the daemon takes -> the same rows', async (t) => {
  const rows = [
    row('order', { description: 'The order number.' }),
    row('count', { type: 'integer', required: false }),
    row('price', { type: 'number' }),
    row('gift', { type: 'boolean', required: false }),
    row('size', { values: ['S', 'M, wide', 'L'] }),
    row('day', { format: 'date', required: false }),
    row('tags', { isList: true, description: 'Any number of words.' }),
    row('sizes', { isList: true, values: ['S', 'M'] }),
    row('days', { isList: true, format: 'date-time' }),
  ];
  const schema = schemaOf(rows);
  t.equal(faultOfParameters(schema), null);
  t.same(parameterRowsOf(schema), { ok: true, rows });
});

t.test('what a table cannot show is said, and stays as it is', async (t) => {
  const beyond = [
    { type: 'object', properties: { a: { type: 'object', properties: {} } } },
    { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } },
    { type: 'object', properties: { a: { type: ['string', 'null'] } } },
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' }, minItems: 1 } } },
    { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } },
    { type: 'object', properties: {}, description: 'All of it.' },
    { type: 'object', properties: { a: { type: 'integer', enum: [1, 2] } } },
  ];
  for (const schema of beyond) {
    t.match(parameterRowsOf(schema), { ok: false, message: /more than the table/ });
    t.equal(faultOfParameters(schema), null, 'though the daemon takes it');
    const tool = { ...newHttpTool(), name: 'a', description: 'b', url: 'https://example.com/' };
    const form = { ...tool, parameters: ofText(tool.parameters, JSON.stringify(schema), parameterRowsOf) };
    t.same(toolFaults([form]), []);
    t.same(toolsOf([form])?.[0]?.parameters, schema);
  }
  for (const schema of [
    null,
    [],
    { type: 'string' },
    { type: 'object', properties: { a: 1 } },
    { type: 'object', properties: {}, required: ['b'] },
  ]) {
    t.match(parameterRowsOf(schema), { ok: false });
  }
});

t.test('names of parameters', async (t) => {
  t.same(
    parameterFaults([row('a'), row(''), row('a'), row('b c'), row('d', { values: ['x', 'x'] })]).map(
      (fault) => fault.row,
    ),
    [1, 2, 3, 4],
  );
});

const TOOLS = parseTools([
  {
    type: 'http',
    name: 'look_up',
    description: 'Looks up an order.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    url: 'https://example.com/orders',
    method: 'GET',
    headers: { Authorization: 'Bearer x', 'X-Shop': '7' },
    timeout_ms: 2500,
    speak_first: 'One moment.',
  },
  {
    type: 'http',
    name: 'bare',
    description: 'b',
    url: 'https://example.com/',
    parameters: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } },
  },
  { type: 'transfer_call', targets: [{ name: 'Reception', number: '+14155550123' }] },
  { type: 'send_dtmf' },
  { type: 'end_call' },
]);

t.test('tools as an agent has them -> forms -> the very same tools', async (t) => {
  t.same(toolsOf(toolFormsOf(TOOLS)), TOOLS);
  t.same(toolFaults(toolFormsOf(TOOLS)), []);
  t.same(toolFormsOf(null), []);
  t.equal(toolsOf([]), null);
});

t.test('what a new tool leaves empty gets the defaults of the daemon', async (t) => {
  const form: ToolForm = {
    ...newHttpTool(),
    name: 'ping',
    description: ' Says hello. ',
    url: ' https://example.com/ping ',
  };
  const given = { type: 'http', name: 'ping', description: 'Says hello.', url: 'https://example.com/ping' };
  t.same(parseTools(toolsOf([form])), parseTools([given]));
});

t.test('faults stand where the daemon would put them', async (t) => {
  const http = { ...newHttpTool(), name: 'a', description: 'b', url: 'https://example.com/' };
  const cases: [string, ToolForm[], string][] = [
    ['no name', [{ ...http, name: '' }], 'tools[0].name'],
    ['a name with a space', [{ ...http, name: 'a b' }], 'tools[0].name'],
    ['a built-in name', [{ ...http, name: 'end_call' }], 'tools[0].name'],
    ['no description', [{ ...http, description: '' }], 'tools[0].description'],
    ['no URL', [{ ...http, url: '' }], 'tools[0].url'],
    ['a placeholder', [{ ...http, url: 'https://example.com/{id}' }], 'tools[0].url'],
    ['half a URL', [{ ...http, url: 'example.com' }], 'tools[0].url'],
    ['too patient', [{ ...http, timeoutMs: '20001' }], 'tools[0].timeout_ms'],
    ['the same name twice', [http, http], 'tools[1].name'],
    ['no targets', [{ type: 'transfer_call', targets: [] }], 'tools[0].targets'],
    [
      'a nameless target',
      [{ type: 'transfer_call', targets: [{ name: '', number: '+14155550123' }] }],
      'tools[0].targets[0].name',
    ],
    [
      'a number without its country',
      [{ type: 'transfer_call', targets: [{ name: 'x', number: '4155550123' }] }],
      'tools[0].targets[0].number',
    ],
  ];
  for (const [name, forms, param] of cases) {
    t.equal(toolFaults(forms)[0]?.param, param, name);
    t.throws(() => parseTools(toolsOf(forms)), { code: 'invalid_tool', param }, `${name}: the daemon's word`);
  }
  const broken = { ...http, parameters: ofText(http.parameters, '{', parameterRowsOf) };
  t.match(toolFaults([broken]), [{ param: 'tools[0].parameters', message: /never closed/ }]);
  const twice = {
    ...http,
    headers: [
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
    ],
  };
  t.match(toolFaults([twice]), [{ param: 'tools[0].headers', message: /twice/ }]);
});

t.test('numbers as people write them', async (t) => {
  t.equal(plainNumber('+1 (415) 555-0100'), '+14155550100');
  t.equal(plainNumber('+44 20/7946.0000'), '+442079460000');
});

t.test('headers that open something are hidden', async (t) => {
  for (const name of ['Authorization', 'X-Api-Key', 'cookie', 'X-Auth-Token', 'X-Signature'])
    t.ok(isSecretHeader({ name, value: 'x' }), name);
  for (const name of ['Accept', 'X-Shop', 'Content-Type'])
    t.notOk(isSecretHeader({ name, value: 'x' }), name);
  t.notOk(isSecretHeader({ name: 'X-Api-Key', value: '********' }), 'there is nothing to show');
});
