// `npm run release`, in clones of this repository: each thing that is missing stops it, and with all of them it names the tag.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { findObstacles } from '../../scripts/release.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EMPTY = '# Changelog\n\n## [Unreleased]\n';
const WRITTEN = `${EMPTY}\n## [9.10.0] - 2026-03-01\n\n### Added\n\n- Something.\n`;

/** A clone that says it is 9.10.0, after 9.9.0; its tests are over at once. */
function clone(t: Test) {
  const top = join(t.testdir({}), 'clone');
  execFileSync('git', ['clone', '-q', '--shared', ROOT, top]);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: top });
  const json = (file: string, change: (value: Record<string, unknown>) => unknown) => {
    const value = JSON.parse(readFileSync(join(top, file), 'utf8')) as Record<string, unknown>;
    change(value);
    writeFileSync(join(top, file), JSON.stringify(value));
  };
  const version = (value: object) => Object.assign(value, { version: '9.10.0' });
  json('package-lock.json', version);
  json('package.json', version);
  json('package.json', ({ scripts }) => Object.assign(scripts as object, { test: 'node -e 0' }));
  writeFileSync(join(top, 'CHANGELOG.md'), WRITTEN);
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'next');
  };
  commit();
  git('tag', '-a', 'v9.9.0', '-m', 'the one before');
  /** As it was made. */
  const reset = () => {
    git('reset', '-q', '--hard', 'v9.9.0');
    git('clean', '-fdq');
    if (git('tag', '--list', 'v9.10.0').length > 0) git('tag', '-d', 'v9.10.0');
  };
  return { top, git, json, commit, reset };
}

t.test('all is there: the package is built, and the tag is named but not made', async (t) => {
  const { top, git } = clone(t);
  symlinkSync(join(ROOT, 'node_modules'), join(top, 'node_modules'));
  // A symlink is no folder, which .gitignore names.
  writeFileSync(join(top, '.git/info/exclude'), 'node_modules\n');
  t.same(findObstacles(top), []);
  // Without what the test runner asks of every Node below it.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, join(ROOT, 'scripts/release.ts')];
  const ran = spawnSync('env', command, { cwd: top, encoding: 'utf8' });
  t.equal(ran.status, 0, ran.stdout + ran.stderr);
  t.match(ran.stdout, /git tag -a v9\.10\.0/);
  t.ok(existsSync(join(top, 'dist/offhook-9.10.0.tgz')));
  t.equal(git('tag', '--list').toString().trim(), 'v9.9.0');
});

t.test('what is missing is named', async (t) => {
  const cases: [RegExp, (c: ReturnType<typeof clone>) => void][] = [
    [/not clean/, ({ top }) => writeFileSync(join(top, 'more.txt'), '')],
    [
      /package-lock\.json says 1\.0\.0/,
      ({ json }) => json('package-lock.json', (v) => Object.assign(v, { version: '1.0.0' })),
    ],
    [
      /not above 9\.10\.0, the last tag/,
      ({ git }) => void git('tag', '-a', 'v9.10.0', '-m', 'it was before'),
    ],
    [/is no version/, ({ json }) => json('package.json', (v) => Object.assign(v, { version: 'next' }))],
  ];
  const spoiled = clone(t);
  for (const [told, spoil] of cases) {
    spoiled.reset();
    spoil(spoiled);
    if (!told.test('not clean') && spoiled.git('status', '--porcelain').length > 0) spoiled.commit();
    t.match(findObstacles(spoiled.top), [told], String(told));
  }
  for (const [told, changelog] of [
    [/no section for 9\.10\.0/, EMPTY],
    [/has no date/, `${EMPTY}\n## [9.10.0]\n\n- Something.\n`],
    [/says nothing/, `${EMPTY}\n## [9.10.0] - 2026-03-01\n`],
    [
      /Unreleased\] is not there, or not empty/,
      WRITTEN.replace('[Unreleased]\n', '[Unreleased]\n\n- More.\n'),
    ],
    [/Unreleased\] is not there, or not empty/, WRITTEN.replace('## [Unreleased]\n', '')],
  ] as const) {
    spoiled.reset();
    writeFileSync(join(spoiled.top, 'CHANGELOG.md'), changelog);
    spoiled.commit();
    t.match(findObstacles(spoiled.top), [told], String(told));
  }
});

t.test('the changelog of this tree is in the form that a release reads', async (t) => {
  t.match(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), /^## \[Unreleased\]$/m);
});
