// Which page a path means.
import t from 'tap';
import { localPath, matchRoute, withQuery } from '../../../../control/dashboard/app/route-match.ts';

const routes = [{ path: '/' }, { path: '/agents/new' }, { path: '/agents/:id' }, { path: '/calls' }] as const;

t.test('path -> route and its parameters', async (t) => {
  const cases: [string, string | null, Record<string, string>][] = [
    ['/', '/', {}],
    ['', '/', {}],
    ['/calls', '/calls', {}],
    ['/calls/', '/calls', {}],
    ['/agents/new', '/agents/new', {}],
    ['/agents/a%20b', '/agents/:id', { id: 'a b' }],
    ['/agents/%E0%A4%A', '/agents/:id', { id: '%E0%A4%A' }],
    ['/agents', null, {}],
    ['/agents/1/2', null, {}],
    ['/CALLS', null, {}],
  ];
  for (const [path, route, params] of cases) {
    const found = matchRoute(routes, path);
    t.equal(found?.route.path ?? null, route, path);
    if (found !== null) t.same(found.params, params, path);
  }
});

t.test('a path with its query leaves out what is empty', async (t) => {
  t.equal(withQuery('/calls', { status: 'failed', agent_id: '', search: undefined }), '/calls?status=failed');
  t.equal(withQuery('/calls', { search: 'a&b c' }), '/calls?search=a%26b+c');
  t.equal(withQuery('/calls', {}), '/calls');
});

t.test('after signing in one stays on this site', async (t) => {
  t.equal(localPath('/calls?status=failed'), '/calls?status=failed');
  for (const path of [
    null,
    '',
    'calls',
    '//elsewhere.example',
    '/\\elsewhere.example',
    'https://elsewhere.example',
  ]) {
    t.equal(localPath(path), '/', String(path));
  }
});
