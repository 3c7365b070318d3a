// Calls as CSV: every call that fits and no other, cells that spreadsheets do not run, and an export that ends with its reader.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { csvLines, safeCell } from '../../../control/api/csv.ts';
import { makeCall } from '../../storage/makers.ts';
import { openRig, type Rig } from '../rig.ts';

/** RFC 4180 once more, by hand: lines end with CRLF, quotes are doubled. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; !(text[at] === '"' && text[at + 1] !== '"'); at++) {
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else {
      for (; text[at] !== ',' && text[at] !== '\r' && at < text.length; at++) cell += text[at];
    }
    row.push(cell);
    if (text[at] === ',') at++;
    else {
      if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no end of a line at ${at}`);
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

async function table(rig: Rig, query = '', key = rig.key) {
  const { status, headers, text } = await rig.api('GET', `/v1/calls.csv${query}`, { key });
  if (status !== 200) throw new Error(text);
  const [names = [], ...rows] = readCsv(text);
  return {
    names,
    headers,
    rows: rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]]))),
  };
}

async function fill(rig: Rig, count: number, of: (at: number) => Parameters<typeof makeCall>[1]) {
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    const created_at = new Date(rig.now().getTime() + at * 1000).toISOString();
    const call = makeCall(rig.orgId, { agent_id: null, carrier_call_id: null, created_at, ...of(at) });
    await rig.store.createCall(call, { events: [], reserve: 0 });
    ids.push(call.id);
  }
  return ids.reverse();
}

t.test('an export has every call that fits, newest first, over pages, and nobody else’s', async (t) => {
  const rig = await openRig(t);
  const ids = await fill(rig, 230, (at) => ({
    direction: at % 2 === 0 ? 'outbound' : 'inbound',
    ...(at === 0 ? { to_number: '+14155557713', from_number: '+14155557714' } : {}),
  }));
  const { headers, rows } = await table(rig);
  t.match(headers.get('content-type'), /^text\/csv; charset=utf-8/);
  t.equal(headers.get('content-disposition'), 'attachment; filename="calls-2026-03-01.csv"');
  t.same(
    rows.map(({ id }) => id),
    ids,
  );
  const [first] = ids.slice(-1);
  await rig.store.saveCall(first ?? '', { from: ['queued'], change: { status: 'completed' } });
  for (const [query, count] of [
    ['direction=inbound', 115],
    ['created_after=2026-03-01T12:03:19.500Z', 30],
    ['created_before=2026-03-01T12:03:19.500Z', 200],
    ['status=completed', 1],
    [`to_number=%2B14155557713`, 1],
    [`from_number=%2B14155557714`, 1],
    ['search=5557713', 1],
    [`agent_id=${ids[0]}`, 0],
  ] as const) {
    t.equal((await table(rig, `?${query}`)).rows.length, count, query);
  }
  t.same((await table(rig, '', rig.other.key)).rows, []);
  const listed = (await rig.api('GET', '/v1/calls?limit=1')).body[0];
  for (const field of ['id', 'status', 'direction', 'to_number', 'from_number', 'created_at', 'language']) {
    t.equal(rows[0]?.[field], listed[field], field);
  }
});

t.test('columns are those asked for; those of one agent have its result by field', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ name: 'Müller & Sohn', returns: { day: 'string', people: 'number' } });
  await fill(rig, 1, () => ({
    agent_id: agent.id,
    result: { day: 'Monday, "early"\nor late', people: -2 },
    metadata: { crm: { id: 7 } },
    summary: 'A table, on Monday.',
  }));
  const all = await table(rig);
  t.ok(all.names.includes('result') && !all.names.includes('result.day'));
  t.match(all.rows[0], { agent_name: 'Müller & Sohn', result: /^\{"day"/, summary: 'A table, on Monday.' });
  const own = await table(rig, `?agent_id=${agent.id}`);
  t.notOk(own.names.includes('result'));
  t.match(own.rows[0], { 'result.day': 'Monday, "early"\nor late', 'result.people': '-2' });
  const chosen = await table(rig, '?columns=to_number,metadata.crm,%20result.none,result.__proto__,id');
  t.same(chosen.names, ['to_number', 'metadata.crm', 'result.none', 'result.__proto__', 'id']);
  t.match(chosen.rows[0], { 'metadata.crm': '{"id":7}', 'result.none': '' });
  for (const columns of ['nothing', 'id,,status', 'result.', 'constructor', 'prompt']) {
    const { status, body } = await rig.api('GET', `/v1/calls.csv?columns=${columns}`);
    t.match({ status, ...body.error }, { status: 400, code: 'invalid_request', param: 'columns' }, columns);
  }
  const head = await rig.api('HEAD', '/v1/calls.csv');
  t.same([head.status, head.text], [200, '']);
  const marked = await fetch(`${rig.url}/v1/calls.csv?columns=id&bom=true`, {
    headers: { authorization: `Bearer ${rig.key}` },
  });
  t.equal(Buffer.from(await marked.arrayBuffer()).toString('latin1', 0, 7), '\xEF\xBB\xBFid\r\n');
});

t.test('no cell is run as a formula, and telephone numbers stay numbers', async (t) => {
  for (const text of [
    '=1+1',
    '+cmd|x',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '+1 415',
    '+',
    '+1415\n=1',
  ])
    t.equal(safeCell(text), `'${text}`, JSON.stringify(text));
  for (const text of ['', 'plain', '+14155550123', '1-2', "'=1", 'a=b']) t.equal(safeCell(text), text);
  const rig = await openRig(t);
  await fill(rig, 1, () => ({
    from_number: '+14155550123',
    metadata: { note: '=HYPERLINK("http://x")' },
    error_message: '@evil, "quoted"',
  }));
  t.match((await table(rig, '?columns=from_number,metadata.note,error_message')).rows[0], {
    from_number: '+14155550123',
    'metadata.note': '\'=HYPERLINK("http://x")',
    error_message: '\'@evil, "quoted"',
  });
  // A name of a column is the caller's choice, too.
  t.match((await table(rig, '?columns=id,metadata.%3Dx')).names, ['id', 'metadata.=x']);
  t.equal(csvLines([['a"b', 1.5, true, null]]), '"a""b",1.5,true,\r\n');
});

t.test('an export is read only as fast as its reader, and ends with him', async (t) => {
  const rig = await openRig(t);
  await fill(rig, 100, () => ({}));
  const page = await rig.store.listCalls(rig.orgId, {}, { limit: 100 });
  let read = 0;
  // Without end, for as long as somebody reads it.
  const { listCalls } = rig.store;
  rig.store.listCalls = async () => {
    read++;
    return page;
  };
  const open: ClientRequest[] = [];
  for (let at = 0; at < 2; at++) {
    const asked = request(`${rig.url}/v1/calls.csv`, { headers: { authorization: `Bearer ${rig.key}` } });
    asked.on('error', () => {});
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    t.equal(answer.statusCode, 200);
    await once(answer, 'readable');
    open.push(asked);
  }
  t.ok(read >= 2);
  rig.store.listCalls = listCalls;
  for (const asked of open) asked.destroy();
  // Two of one organization at once: a third would be refused, had they not ended.
  t.equal((await table(rig)).rows.length, 100);

  rig.store.listCalls = async () => {
    throw new Error('the disk is gone');
  };
  t.equal(
    (await rig.api('GET', '/v1/calls.csv')).status,
    500,
    'what cannot be read from the start is refused',
  );
  let pages = 0;
  rig.store.listCalls = async () => {
    if (pages++ > 0) throw new Error('the disk is gone');
    return page;
  };
  await t.rejects(rig.api('GET', '/v1/calls.csv'), 'one that breaks off does not look whole');
});
