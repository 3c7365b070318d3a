// Holds docs/specification.md to the code and to the tests: every route, field, value, event, error and decision has its
// row, every row speaks of something that is there, and every test that a row names exists and works from outside.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROUTES } from '../control/api/routes.ts';
import { type JsonSchema, openApiDocument } from '../control/reference/openapi.ts';
import { DECISIONS } from '../control/reference/reference-text.ts';
import { ERROR_STATUS } from '../errors.ts';
import { CALL_FIELDS } from '../storage/call-view.ts';
import { EVENT_TYPES } from '../storage/records.ts';
import {
  AGENT_FIELDS,
  ATTEMPT_FIELDS,
  DELIVERY_FIELDS,
  ENDPOINT_FIELDS,
  NUMBER_FIELDS,
} from '../storage/views.ts';

interface Row {
  section: string;
  item: string;
  says: string;
  code: string[];
  proofs: { file: string; name: string }[];
}

const ROOT = join(import.meta.dirname, '..');
const NOT_YET = 'not yet';

/** The rows of every table of the page. */
function readRows(text: string): Row[] {
  const rows: Row[] = [];
  let section = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3);
    const cells = /^\| `(.+?)` \| (.+?) \| (.+?) \| (.+) \|$/.exec(line);
    if (cells === null) continue;
    const [, item = '', says = '', code = '', proof = ''] = cells;
    rows.push({
      section,
      item,
      says,
      code: [...code.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
      proofs:
        proof === NOT_YET
          ? []
          : proof.split(' <br> ').map((one) => {
              const [, file = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(one) ?? [];
              return { file, name };
            }),
    });
  }
  return rows;
}

const page = readFileSync(join(ROOT, 'docs/specification.md'), 'utf8');
const rows = readRows(page);
const items = new Set(rows.map(({ item }) => item));

/** Where a test's name is put together, the fixed parts count. */
function namesOf(source: string): RegExp[] {
  const literal = /\btest\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
  return [...source.matchAll(literal)].map(([, single, double, template]) => {
    const text = single ?? double ?? template ?? '';
    const parts = template === undefined ? [text] : text.split(/\$\{[^}]*\}/);
    return new RegExp(
      `^${parts.map((part) => part.replace(/\\(.)/g, '$1').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.+')}$`,
    );
  });
}

const sources = new Map<string, { names: RegExp[]; outside: boolean }>();
function sourceOf(file: string): { names: RegExp[]; outside: boolean } | null {
  const path = join(ROOT, 'test', file);
  if (!existsSync(path)) return null;
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  // The rig of control/ is the whole application on a socket; e2e/ is the daemon itself.
  const outside =
    file.startsWith('e2e/') ||
    (file.startsWith('control/') && /from '(\.\/|(\.\.\/)+)(dashboard\/)?rig\.ts'/.test(text));
  const found = { names: namesOf(text), outside };
  sources.set(file, found);
  return found;
}

t.test('the page is tables of rows, each item once', async (t) => {
  t.ok(rows.length > 400, `${rows.length} rows`);
  const lines = page.split('\n').filter((line) => line.startsWith('| `'));
  t.equal(rows.length, lines.length, 'every line of a table can be read');
  t.equal(
    items.size,
    rows.length,
    `twice: ${rows.map(({ item }) => item).filter((item, i, all) => all.indexOf(item) !== i)}`,
  );
});

t.test('every test that a row names exists, and one of them drives the program from outside', async (t) => {
  for (const { item, proofs } of rows) {
    for (const { file, name } of proofs) {
      const source = sourceOf(file);
      if (source === null) t.fail(`${item}: there is no test/${file}`);
      else if (!source.names.some((one) => one.test(name)))
        t.fail(`${item}: test/${file} has no test "${name}"`);
    }
    if (proofs.length > 0 && !proofs.some(({ file }) => sourceOf(file)?.outside)) {
      t.fail(`${item}: no test from outside`);
    }
  }
  t.ok(sources.size > 15, `${sources.size} files`);
});

t.test('every file that a row names exists', async (t) => {
  for (const { item, code } of rows) {
    for (const file of code) if (!existsSync(join(ROOT, file))) t.fail(`${item}: there is no ${file}`);
  }
  t.ok(rows.some(({ code }) => code.length > 0));
});

const missing = rows.filter(({ proofs }) => proofs.length === 0).map(({ item }) => item);
t.test(
  'every row has its proof',
  { skip: missing.length > 0 ? `${missing.length} not yet: ${missing.join('; ')}` : false },
  async (t) => t.same(missing, []),
);

t.test('rows and code speak of the same things', async (t) => {
  const document = openApiDocument({ routes: ROUTES, version: '0' });
  const schemas = Object.entries(document.components.schemas);
  /** Components that are another one with more: only what is new needs a row. */
  const FOLLOWS: Record<string, string> = {
    AgentSummary: 'Agent',
    AgentChange: 'NewAgent',
    CampaignChange: 'NewCampaign',
    CampaignContactWithCalls: 'CampaignContact',
    WebhookDeliveryDetail: 'WebhookDelivery',
    WebhookEndpointWithSecret: 'WebhookEndpoint',
    WebhookSecretShown: 'WebhookSecret',
  };
  const fieldsOf = (name: string) => Object.keys(document.components.schemas[name]?.properties ?? {});
  const valuesOf = (schema: JsonSchema) => (Array.isArray(schema.enum) ? schema.enum.map(String) : []);
  const answered = [
    'Call',
    'Agent',
    'Number',
    'WebhookEndpoint',
    'WebhookDelivery',
    'Transcript',
    'TranscriptItem',
    'CallTurns',
    'Turn',
    'CallEventDelivery',
  ];
  const query = Object.entries(document.paths).flatMap(([path, operations]) =>
    (operations.get?.parameters ?? []).flatMap((one) =>
      'in' in one && one.in === 'query' ? [`GET ${path}?${one.name}`] : [],
    ),
  );
  const expected: Record<string, { there: string[]; claimed: RegExp }> = {
    routes: {
      there: ROUTES.map(
        ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      ),
      claimed: /^[A-Z]+ \/v1\/[^?]+$/,
    },
    'query parameters': { there: query, claimed: /^GET .*\?/ },
    fields: {
      there: [
        ...schemas.flatMap(([name]) =>
          fieldsOf(name)
            .filter((field) => !fieldsOf(FOLLOWS[name] ?? '').includes(field))
            .map((field) => `${name}.${field}`),
        ),
      ],
      claimed: /^[A-Z]\w+\.\w+$/,
    },
    values: {
      there: answered.flatMap((name) =>
        Object.entries(document.components.schemas[name]?.properties ?? {})
          .filter(([field]) => field !== 'event_type')
          .flatMap(([field, schema]) => valuesOf(schema).map((value) => `${name}.${field} = ${value}`)),
      ),
      claimed: /^[A-Z]\w+\.\w+ = /,
    },
    events: { there: [...EVENT_TYPES], claimed: /^call\.\w+$/ },
    errors: {
      there: Object.entries(ERROR_STATUS).map(([code, status]) => `${status} ${code}`),
      claimed: /^\d{3} \w+$/,
    },
    decisions: {
      there: DECISIONS.flatMap(({ title, decisions }) =>
        decisions.map(([point]) => `${title}: ${point.replaceAll('`', '').replace(/ \+$/, '')}`),
      ),
      claimed: /^(Conventions|Agents and numbers|Calls|Webhooks): /,
    },
  };
  for (const [what, { there, claimed }] of Object.entries(expected)) {
    const own = rows.map(({ item }) => item).filter((item) => claimed.test(item));
    t.same([...own].sort(), [...there].sort(), what);
    t.ok(there.length > 0);
  }
  for (const [name, fields] of [
    ['Call', CALL_FIELDS],
    ['Agent', [...AGENT_FIELDS, 'numbers']],
    ['Number', NUMBER_FIELDS],
    ['WebhookEndpoint', ENDPOINT_FIELDS],
    ['WebhookDelivery', DELIVERY_FIELDS],
    ['WebhookAttempt', ATTEMPT_FIELDS],
  ] as const) {
    t.same(
      rows
        .filter(({ item }) => item.startsWith(`${name}.`) && !item.includes(' = '))
        .map(({ item }) => item.split('.')[1]),
      [...fields],
      `${name}: as it is sent`,
    );
  }
});

t.test('what the interface itself names is there, whatever is added', async (t) => {
  const own = (section: string, pattern: RegExp) =>
    rows.filter((row) => row.section === section && pattern.test(row.item) && !row.says.startsWith('**+**'))
      .length;
  for (const [section, pattern, count] of [
    ['Endpoints', /^[A-Z]+ /, 22],
    ['Call', /^Call\./, 31],
    ['Agent', /^Agent\./, 18],
    ['Number', /^Number\./, 10],
    ['Webhook endpoint', /^WebhookEndpoint\./, 11],
    ['Webhook delivery', /^WebhookDelivery\./, 15],
    ['States', /^Call\.status = /, 9],
    ['States', /^Call\.(result|reservation|webhook)_status = /, 10],
    ['States', /^Webhook(Delivery|Endpoint)\.status = /, 5],
    ['Transitions', /^(Agent|Webhook)/, 5],
    ['Events', /^call\./, 8],
    ['Events', /^event rule \d$/, 9],
    ['Create agent', /^NewAgent\./, 8],
    ['Create agent', /^create rule \d$/, 4],
    ['Dispatch a call', /^AgentCall\./, 7],
    ['Dispatch a call', /^dispatch rule \d$/, 7],
    ['Dispatch a call', /^dispatch rule 7: /, 3],
    ['Authentication', /^auth rule \d$/, 5],
    ['Limits', /./, 3],
  ] as const) {
    t.equal(own(section, pattern), count, `${section} ${pattern}`);
  }
});
