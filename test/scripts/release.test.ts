// `npm run release`, in clones of this repository: what is in the way stops it, a failure leaves all as it was, and else the
// version is dated, committed and tagged.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { findObstacles } from '../../scripts/release.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EMPTY = '# Changelog\n\n## [Unreleased]\n';
const WRITTEN = `${EMPTY}\n### Added\n\n- Something.\n`;
const VERSION = '9.10.0';

/** A clone, after 9.9.0; its tests are over at once. */
function clone(t: Test, tests = 'node -e 0') {
  const top = join(t.testdir({}), 'clone');
  execFileSync('git', ['clone', '-q', '--shared', '--no-tags', ROOT, top]);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: top, encoding: 'utf8' });
  git('config', 'user.name', 't');
  git('config', 'user.email', 't@example.com');
  const file = join(top, 'package.json');
  const own = JSON.parse(readFileSync(file, 'utf8')) as { scripts: Record<string, string> };
  own.scripts.test = tests;
  writeFileSync(file, JSON.stringify(own));
  writeFileSync(join(top, 'CHANGELOG.md'), WRITTEN);
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'next');
  };
  commit();
  git('tag', '-a', 'v9.9.0', '-m', 'the one before');
  symlinkSync(join(ROOT, 'node_modules'), join(top, 'node_modules'));
  // A symlink is no folder, which .gitignore names.
  writeFileSync(join(top, '.git/info/exclude'), 'node_modules\n');
  /** As it was made. */
  const reset = () => {
    git('reset', '-q', '--hard', 'v9.9.0');
    git('clean', '-fdq');
  };
  const release = (...args: string[]) =>
    // Without what the test runner asks of every Node below it.
    spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, join(ROOT, 'scripts/release.ts'), ...args], {
      cwd: top,
      encoding: 'utf8',
    });
  return { top, git, commit, reset, release };
}

t.test('all is there: dated, built, committed and tagged; nothing is pushed', async (t) => {
  const { top, git, release } = clone(t);
  const ran = release(VERSION);
  t.equal(ran.status, 0, ran.stdout + ran.stderr);
  t.match(ran.stdout, /git push --follow-tags\n {2}npm publish dist\/offhook-9\.10\.0\.tgz/);
  t.ok(existsSync(join(top, 'dist/offhook-9.10.0.tgz')));
  t.match(
    readFileSync(join(top, 'CHANGELOG.md'), 'utf8'),
    /^# Changelog\n\n## \[Unreleased\]\n\n## \[9\.10\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- Something\.\n$/,
  );
  for (const file of ['package.json', 'package-lock.json'])
    t.match(JSON.parse(readFileSync(join(top, file), 'utf8')), { version: VERSION }, file);
  t.equal(git('status', '--porcelain'), '');
  t.equal(git('log', '-1', '--format=%s').trim(), `release: ${VERSION}`);
  t.equal(git('rev-parse', `v${VERSION}^{commit}`), git('rev-parse', 'HEAD'));
  t.match(git('tag', '--list', '--format=%(contents)', `v${VERSION}`), /^### Added\n\n- Something\.$/m);
  t.match(git('rev-list', '--count', 'origin/HEAD..HEAD').trim(), '2', 'the origin has heard of none of it');
  const again = release(VERSION);
  t.equal(again.status, 1);
  t.match(again.stderr, /not above 9\.10\.0/);
});

t.test('tests that fail leave everything as it was', async (t) => {
  const { git, release } = clone(t, 'node -e process.exit(1)');
  const ran = release(VERSION);
  t.equal(ran.status, 1);
  t.match(ran.stderr, /There is no 9\.10\.0: npm test failed/);
  t.equal(git('status', '--porcelain'), '');
  t.equal(git('tag', '--list').trim(), 'v9.9.0');
  t.equal(release().status, 2, 'it is asked which');
});

t.test('a commit or a tag that is refused leaves everything as it was', async (t) => {
  const { top, git, release } = clone(t);
  const head = git('rev-parse', 'HEAD');
  const hook = join(top, '.git/hooks/pre-commit');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const uncommitted = release(VERSION);
  t.match(uncommitted.stderr, /There is no 9\.10\.0: git commit failed/);
  rmSync(hook);
  git('config', 'tag.gpgSign', 'true');
  git('config', 'gpg.program', 'false');
  const untagged = release(VERSION);
  t.match(untagged.stderr, /There is no 9\.10\.0: git tag failed/);
  t.same([uncommitted.status, untagged.status], [1, 1]);
  t.equal(git('status', '--porcelain'), '');
  t.equal(git('rev-parse', 'HEAD'), head);
  t.equal(git('tag', '--list').trim(), 'v9.9.0');
});

t.test('what is in the way is named', async (t) => {
  const { top, git, commit, reset } = clone(t);
  t.same(findObstacles(top, VERSION), []);
  writeFileSync(join(top, 'more.txt'), '');
  t.match(findObstacles(top, VERSION), [/not clean/]);
  reset();
  for (const version of ['9.9.0', '9.8.12', '0.1.0'])
    t.match(findObstacles(top, version), [/not above 9\.9\.0, the last tag/], version);
  t.match(findObstacles(top, 'next'), [/is no version/]);
  for (const [told, changelog] of [
    [/\[Unreleased\] says nothing/, EMPTY],
    [/\[Unreleased\] says nothing/, `${EMPTY}\n## [9.9.0] - 2026-03-01\n\n- Something.\n`],
    [/no section \[Unreleased\]/, WRITTEN.replace('## [Unreleased]\n', '')],
    [/section for 9\.10\.0 already/, `${WRITTEN}\n## [9.10.0] - 2026-03-01\n`],
  ] as const) {
    reset();
    writeFileSync(join(top, 'CHANGELOG.md'), changelog);
    commit();
    t.match(findObstacles(top, VERSION), [told], String(told));
  }
  reset();
  t.equal(git('status', '--porcelain'), '');
});

t.test('the changelog of this tree is in the form that a release reads', async (t) => {
  t.match(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), /^## \[Unreleased\]$/m);
});
