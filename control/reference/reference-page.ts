// The reference as one HTML page, made from the OpenAPI document and the reference's own texts. PURE. Everything is on the page,
// so that the browser's own search finds it; every heading is a link to itself. Its script only adds to it.
import { createHash } from 'node:crypto';
import { FAULT_CODES, HANGUP_CAUSES } from '../../bridge/protocol/call-reasons.ts';
import { ERROR_STATUS, type ErrorCode } from '../../errors.ts';
import { DEFAULT_PERSONA } from '../agents/texts/system-prompt.ts';
import { ERROR_MEANING } from '../http/error-meanings.ts';
import { MAX_ATTEMPTS, RETRY_SECONDS } from '../webhooks/schedule.ts';
import type { JsonSchema, OpenApi, Operation, Parameter, Reference, ResponseObject } from './openapi.ts';
import { curl, SDK_SETUP, sdkExample } from './reference-examples.ts';
import { SCRIPT } from './reference-script.ts';
import { styleOf } from './reference-style.ts';
import { CALL_REASONS, DECISIONS, RETRY_RULES, VERIFY_BY_HAND, VERIFY_BY_LIBRARY } from './reference-text.ts';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** What the page may load: its own style and script, by their hashes, its typeface, and nothing else from anywhere. */
export const policyOf = (face: string) =>
  `default-src 'none'; style-src ${hashOf(styleOf(face))}; script-src ${hashOf(SCRIPT)}; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);

/** A line of text; `backticks` mark code. */
const line = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const paragraphs = (text: string) =>
  text
    .split('\n\n')
    .map((part) => `<p>${line(part)}</p>`)
    .join('\n');

const block = (text: string) => `<pre><code>${escaped(text)}</code></pre>`;

/** The same in a language that a reader chooses. */
const codeIn = (language: 'curl' | 'ts', text: string) =>
  `<div class="code ${language}">${block(text)}</div>`;

const json = (value: unknown) => block(JSON.stringify(value, null, 2));

const heading = (level: 2 | 3, id: string, html: string) =>
  `<h${level} id="${escaped(id)}"><a href="#${escaped(id)}">${html}</a></h${level}>`;

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const cells = (tag: string, row: string[]) => row.map((cell) => `<${tag}>${cell}</${tag}>`).join('');
  return `<div class="wide"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>\n${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}\n</tbody></table></div>`;
}

const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

const schemaLink = (ref: string) => `<a href="#schema-${escaped(nameOf(ref))}">${escaped(nameOf(ref))}</a>`;

/** A schema in a few words: "string or null", "list of Number". */
function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schemaLink(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => `<code>${escaped(String(value))}</code>`).join(' ');
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any'];
  return types
    .map((type) => {
      if (type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
      return type === 'string' && typeof schema.format === 'string' ? escaped(schema.format) : escaped(type);
    })
    .join(' or ');
}

function limitsOf(schema: JsonSchema): string {
  const said: string[] = [];
  if (typeof schema.minimum === 'number') said.push(`${schema.minimum} or more`);
  if (typeof schema.maximum === 'number') said.push(`${schema.maximum} at most`);
  if (typeof schema.maxLength === 'number') said.push(`${schema.maxLength} characters at most`);
  if (typeof schema.maxItems === 'number') said.push(`${schema.maxItems} items at most`);
  if (typeof schema.pattern === 'string') said.push(`pattern \`${schema.pattern}\``);
  if (schema.default !== undefined) said.push(`default \`${JSON.stringify(schema.default)}\``);
  return said.length === 0 ? '' : ` <span class="dim">${line(said.join(', '))}</span>`;
}

/** The fields of an object and of what stands inline in it, one row each. */
function fieldRows(schema: JsonSchema, prefix = ''): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const required = schema.required?.includes(name) === true ? '' : ' <span class="dim">optional</span>';
    const row = [
      `<code>${escaped(prefix + name)}</code>${required}`,
      typeOf(field),
      line(field.description ?? '') + limitsOf(field),
    ];
    const inner = field.properties === undefined ? field.items : field;
    const path = field.properties === undefined ? `${prefix}${name}[].` : `${prefix}${name}.`;
    return [row, ...(inner?.properties === undefined ? [] : fieldRows(inner, path))];
  });
}

const FIELD_HEAD = ['Field', 'Type', 'Meaning'];

/** A body in full where it stands here alone, by a link where it has a name. */
function bodyOf(schema: JsonSchema): string {
  if (schema.properties === undefined) return `<p>${typeOf(schema)}</p>`;
  return table(FIELD_HEAD, fieldRows(schema));
}

function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.$ref !== undefined) return exampleOf(schemas[nameOf(schema.$ref)] ?? {}, schemas);
  const first = (schema.anyOf ?? schema.oneOf)?.[0];
  return first === undefined ? undefined : exampleOf(first, schemas);
}

const isReference = (value: object): value is Reference => '$ref' in value;

const methodName = (method: string) => `<span class="method ${method}">${method.toUpperCase()}</span>`;

function operationOf(document: OpenApi, method: string, path: string, operation: Operation): string {
  const { schemas } = document.components;
  const parameters = (operation.parameters ?? []).map(
    (one): Parameter =>
      isReference(one) ? (document.components.parameters[nameOf(one.$ref)] as Parameter) : one,
  );
  const body = operation.requestBody?.content['application/json']?.schema;
  const example = body === undefined ? undefined : exampleOf(body, schemas);
  const answers = Object.entries(operation.responses).map(([status, one]) => {
    const response: ResponseObject = isReference(one)
      ? (document.components.responses[nameOf(one.$ref)] as ResponseObject)
      : one;
    const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
    // Errors have one shape and a table of their own: their codes are what matters here.
    if (Number(status) >= 400) {
      const codes = [...response.description.matchAll(/^`(\w+)`/gm)].map(([, code = '']) => errorLink(code));
      return [`<code>${status}</code>`, codes.join(' ')];
    }
    const what =
      content === undefined
        ? ''
        : type === 'application/json'
          ? typeOf(content.schema) + dataOf(content.schema)
          : `<code>${escaped(type ?? '')}</code>`;
    return [`<code>${escaped(status)}</code>`, `${line(response.description)} ${what}`];
  });
  const isPublic = operation.security?.length === 0;
  const bySdk = sdkExample(document, operation, example);
  return [
    '<section class="op">',
    heading(3, operation.operationId, `${methodName(method)} ${escaped(path)}`),
    '<div>',
    `<p><b>${line(operation.summary)}.</b></p>`,
    operation.description === undefined ? '' : paragraphs(operation.description),
    parameters.length === 0 ? '' : '<h4>Parameters</h4>',
    table(
      ['Name', 'Where', 'Type', 'Meaning'],
      parameters.map((one) => [
        `<code>${escaped(one.name)}</code>${one.required ? '' : ' <span class="dim">optional</span>'}`,
        one.in,
        typeOf(one.schema),
        line(one.description) + limitsOf(one.schema),
      ]),
    ),
    body === undefined ? '' : `<h4>Body</h4>${bodyOf(body)}`,
    '<h4>Answers</h4>',
    table(['Status', 'Body'], answers),
    '</div>',
    '<div class="op-code">',
    codeIn('curl', curl(method, path, example, isPublic)),
    bySdk === null ? '' : codeIn('ts', bySdk),
    '</div>',
    '</section>',
  ].join('\n');
}

/** `{"data": […]}`: what the list holds. */
function dataOf(schema: JsonSchema): string {
  const data = schema.properties?.data;
  return data === undefined ? '' : `, <code>data</code>: ${typeOf(data)}`;
}

const errorLink = (code: string) => `<a href="#error-${escaped(code)}"><code>${escaped(code)}</code></a>`;

function schemaSection(name: string, schema: JsonSchema): string {
  const variants = schema.oneOf ?? [];
  return [
    heading(3, `schema-${name}`, escaped(name)),
    schema.description === undefined ? '' : paragraphs(schema.description),
    table(FIELD_HEAD, fieldRows(schema)),
    ...variants.map((variant) => table(FIELD_HEAD, fieldRows(variant))),
    schema.examples === undefined ? '' : json(schema.examples[0]),
  ].join('\n');
}

function seconds(count: number): string {
  if (count < 60) return `${count} s`;
  return count < 3600 ? `${count / 60} min` : `${count / 3600} h`;
}

function retries(): string {
  let total = 0;
  const rows = Array.from({ length: MAX_ATTEMPTS }, (_none, at) => {
    const wait = RETRY_SECONDS[at - 1] ?? 0;
    total += wait;
    const minutes = Math.round(total / 60);
    const since =
      total < 3600
        ? seconds(total < 60 ? total : minutes * 60)
        : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    return [String(at + 1), at === 0 ? 'at once' : `${seconds(wait)} later`, since];
  });
  return `${table(['Attempt', 'When', 'Since the event, about'], rows)}<ul>${RETRY_RULES.map((rule) => `<li>${line(rule)}</li>`).join('\n')}</ul>`;
}

function errors(): string {
  const codes = (Object.entries(ERROR_STATUS) as [ErrorCode, number][]).sort(([, a], [, b]) => a - b);
  const rows = codes
    .map(
      ([code, status]) =>
        `<tr id="error-${code}"><td><code>${status}</code></td><td><a href="#error-${code}"><code>${code}</code></a></td><td>${line(ERROR_MEANING[code])}</td></tr>`,
    )
    .join('\n');
  return `<div class="wide"><table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>\n${rows}\n</tbody></table></div>`;
}

/** Our own words for why a call ended and what failed. */
function reasons(): string {
  const words = (field: string, meanings: Readonly<Record<string, string>>) =>
    table(
      [`Ours in <code>${field}</code>`, 'Meaning'],
      Object.entries(meanings).map(([word, meaning]) => [`<code>${word}</code>`, line(meaning)]),
    );
  return [
    paragraphs(CALL_REASONS),
    words('hangup_cause', HANGUP_CAUSES),
    words('error_code', FAULT_CODES),
  ].join('\n');
}

interface Section {
  id: string;
  title: string;
  html: string;
  links: { id: string; html: string }[];
}

function operationSections(document: OpenApi): Section[] {
  return document.tags.map(({ name, description }) => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => ({ method, path, operation })),
    );
    return {
      id: name.toLowerCase(),
      title: name,
      html: [
        paragraphs(description),
        ...operations.map(({ method, path, operation }) => operationOf(document, method, path, operation)),
      ].join('\n'),
      links: operations.map(({ method, path, operation }) => ({
        id: operation.operationId,
        html: `${methodName(method)} ${escaped(path.replace('/v1', ''))}`,
      })),
    };
  });
}

function eventSection(document: OpenApi): Section {
  const events = Object.entries(document.webhooks).map(([type, item]) => ({ type, operation: item.post }));
  const parameters = (events[0]?.operation?.parameters ?? []) as Parameter[];
  return {
    id: 'events',
    title: 'Webhook events',
    html: [
      paragraphs(
        "An event is posted to every enabled endpoint that asks for its type, and to the call's `webhook_url`. The body is the Call as it was at the event:",
      ),
      `<p>${schemaLink('Call')}</p>`,
      table(
        ['Type', 'When', 'What to know'],
        events.map(({ type, operation }) => [
          `<code>${escaped(type)}</code>`,
          line(operation?.summary ?? ''),
          line(operation?.description ?? ''),
        ]),
      ),
      '<h3>Headers</h3>',
      table(
        ['Header', 'Meaning'],
        parameters.map((one) => [
          `<code>${escaped(one.name)}</code>${one.required ? '' : ' <span class="dim">optional</span>'}`,
          line(one.description),
        ]),
      ),
    ].join('\n'),
    links: [],
  };
}

/** The field that finds, hidden where no script runs it. */
const FIND = `<div class="find" hidden>
<input type="search" aria-label="Search the reference" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<fieldset class="languages"><legend>Examples</legend>
<label><input type="radio" name="language" value="curl"> curl</label>
<label><input type="radio" name="language" value="ts"> TypeScript</label>
</fieldset>
</div>`;

/** The page. @param face where its typeface is */
export function referencePage(document: OpenApi, face: string): string {
  const schemas = Object.entries(document.components.schemas);
  const plain = (id: string, title: string, html: string): Section => ({ id, title, html, links: [] });
  const sections: Section[] = [
    plain(
      'introduction',
      'Introduction',
      [
        paragraphs(document.info.description),
        paragraphs(
          'The examples by curl take `$URL`, where the daemon is, and `$KEY`; those by the SDK (npm `offhook`) stand behind:',
        ),
        block(SDK_SETUP),
      ].join('\n'),
    ),
    ...operationSections(document),
    eventSection(document),
    plain(
      'signatures',
      'Verifying a webhook',
      [
        paragraphs(
          'Deliveries are signed by Standard Webhooks 1.0, so that any of its libraries verifies them. What is signed is `webhook-id`, a dot, `webhook-timestamp`, a dot, and the body, byte for byte as it came: verify before parsing.',
        ),
        block(VERIFY_BY_LIBRARY),
        paragraphs(
          'Without a library: HMAC-SHA256 under the bytes behind `whsec_` (base64), compared with every `v1,` signature of the header, for there are two while a secret is being rotated. A timestamp more than five minutes off is an old message sent again.',
        ),
        block(VERIFY_BY_HAND),
        paragraphs(
          'An endpoint has the secret that its registration answered. Deliveries to a `webhook_url` of a call or an agent have the default secret of the organization.',
        ),
      ].join('\n'),
    ),
    plain('retries', 'Retry schedule', retries()),
    plain('errors', 'Errors', errors()),
    plain('reasons', 'Why calls end', reasons()),
    {
      id: 'schemas',
      title: 'Schemas',
      html: schemas.map(([name, schema]) => schemaSection(name, schema)).join('\n'),
      links: schemas.map(([name]) => ({ id: `schema-${name}`, html: escaped(name) })),
    },
    plain(
      'persona',
      'Default persona',
      `${paragraphs('Who speaks when an agent has no persona of its own:')}<blockquote>${line(DEFAULT_PERSONA)}</blockquote>`,
    ),
    plain(
      'decisions',
      'Decisions',
      [
        paragraphs(
          'Where an interface of this kind leaves a choice, this is what was chosen. A + marks what goes beyond it.',
        ),
        ...DECISIONS.map(
          ({ title, decisions }) =>
            `<h3>${escaped(title)}</h3>${table(
              ['Point', 'Decision'],
              decisions.map(([point, decision]) => [line(point), line(decision)]),
            )}`,
        ),
      ].join('\n'),
    ),
  ];
  const nav = sections
    .map(
      ({ id, title, links }) =>
        `<b><a href="#${id}">${escaped(title)}</a></b><ul>${links.map((to) => `<li><a href="#${escaped(to.id)}">${to.html}</a></li>`).join('')}</ul>`,
    )
    .join('\n');
  const main = sections.map(({ id, title, html }) => `${heading(2, id, escaped(title))}\n${html}`).join('\n');
  const { title, version } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${styleOf(face)}</style>
<script>${SCRIPT}</script>
</head>
<body>
<nav aria-label="Contents">
<p class="top"><span>Offhook</span> <a href="/">Dashboard</a></p>
${FIND}
<div id="found" hidden></div>
<div id="contents">
${nav}
</div>
</nav>
<main>
<h1>${escaped(title)} <span class="dim">${escaped(version)}</span></h1>
<p>The same for programs: <a href="/v1/openapi.json">/v1/openapi.json</a>, OpenAPI 3.1.</p>
${main}
</main>
</body>
</html>
`;
}
