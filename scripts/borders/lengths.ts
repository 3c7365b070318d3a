// How long functions and files of the daemon are. What is longer than a reader takes in at once is on a list, with its reason.
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';

const MOST_FUNCTION_LINES = 120;
const MOST_FILE_LINES = 400;

/** Files, and functions as `file name`, that may be longer, and why. */
export const LONGER: Readonly<Record<string, string>> = {
  'config.ts': 'one table of settings',
  'daemon.ts': 'opens every part in order: one flow, read from top to bottom',
  'daemon.ts start': 'opens every part in order: one flow, read from top to bottom',
  'bridge/media/talk.ts': 'does everything that the floor says, in one place',
  'bridge/calls/metrics.ts observeBridge': 'a table of metrics',
  'control/dashboard/app/forms/json-text.ts walk': 'one reader of one grammar, a function a rule of it',
  'control/dashboard/app/pages/agent/parameters-editor.ts ParametersEditor': 'markup of one table',
  'control/dashboard/app/pages/people.ts PeoplePage': 'markup of one page',
  'control/dashboard/oidc.ts openOidc': 'one way there and back, with what both share',
  'control/dashboard/account-api.ts accountRoutes': 'a list of routes',
  'control/dashboard/people-api.ts peopleRoutes': 'a list of routes',
  'control/dashboard/session-api.ts sessionApi': 'a list of routes',
  'control/reference/openapi.ts': 'a document made part by part, in its own order',
  'control/reference/reference-page.ts': 'a page made part by part, in its own order',
  'control/sdk/api.ts': 'made by npm run sdk:types',
  'control/sdk/client.ts': 'every operation, by resource',
  'storage/records.ts': 'the record of each resource, one after the other',
  'storage/store.ts': 'the verbs of the contract, each with what it promises',
  'storage/sqlite/calls.ts calls': 'a list of verbs over prepared statements',
  'storage/sqlite/campaign-contacts.ts campaignContacts': 'a list of verbs over prepared statements',
  'storage/sqlite/campaigns.ts campaigns': 'a list of verbs over prepared statements',
  'storage/sqlite/daemons.ts daemons': 'a list of verbs over prepared statements',
  'storage/sqlite/deliveries.ts deliveries': 'a list of verbs over prepared statements',
  'storage/sqlite/erasures.ts erasures': 'a list of verbs over prepared statements',
  'storage/sqlite/retention.ts retention': 'a list of verbs over prepared statements',
  'storage/sqlite/organizations.ts organizations': 'a list of verbs over prepared statements',
  'storage/sqlite/outbound.ts outbound': 'a list of verbs over prepared statements',
  'storage/sqlite/people.ts people': 'a list of verbs over prepared statements',
  'storage/sqlite/migrations.ts': 'a list that is only added to',
  'storage/sqlite/rows.ts': 'the columns of each table, one after the other',
};

/** What of a file is too long, as the lists name it. */
export function* tooLong(file: string, text: string): Generator<{ name: string; lines: number }> {
  const lines = text.trimEnd().split('\n').length;
  if (lines > MOST_FILE_LINES) yield { name: file, lines };
  // Types become blanks: lines stay where they are.
  const tree = parse(stripTypeScriptTypes(text), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  });
  for (const { name, node } of functions(tree, 'anonymous')) {
    const { start, end } = node.loc ?? { start: { line: 0 }, end: { line: 0 } };
    const length = end.line - start.line + 1;
    if (length > MOST_FUNCTION_LINES) yield { name: `${file} ${name}`, lines: length };
  }
}

/** Every function below a node, with the name that it or what holds it has. */
function* functions(node: Node, name: string): Generator<{ name: string; node: Node }> {
  const { id, key } = node as Node & { id?: { name?: string } | null; key?: { name?: string } };
  const own = id?.name ?? key?.name ?? name;
  if (/Function/.test(node.type)) yield { name: own, node };
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === 'object' && one !== null && 'type' in one) yield* functions(one as Node, own);
  }
}
