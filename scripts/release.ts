// `npm run release -- VERSION`: makes this commit the version, if it may become one. Gives the number and the date, runs the
// tests, builds the package, commits and tags. It pushes and publishes nothing: it tells what is left to do.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const UNRELEASED = '## [Unreleased]\n';
/** What a release changes; put back where it fails. */
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md'];

/** What stands in the way of a release, found without running or changing anything; empty: nothing. `top` is the checkout. */
export function findObstacles(top: string, version: string): string[] {
  const found: string[] = [];
  if (git(top, 'status', '--porcelain') !== '') found.push('The tree is not clean: commit or stash.');
  if (!/^\d+\.\d+\.\d+$/.test(version)) found.push(`${version} is no version.`);
  const last = git(top, 'tag', '--list', 'v*.*.*')
    .split('\n')
    .filter((tag) => tag !== '')
    .map((tag) => tag.slice(1))
    .sort(byVersion)
    .at(-1);
  if (last !== undefined && byVersion(version, last) <= 0)
    found.push(`${version} is not above ${last}, the last tag.`);
  const changelog = readFileSync(join(top, 'CHANGELOG.md'), 'utf8');
  if (changelog.includes(`\n## [${version}]`))
    found.push(`CHANGELOG.md has a section for ${version} already.`);
  if (!changelog.includes(UNRELEASED)) found.push('CHANGELOG.md: there is no section [Unreleased].');
  else if (!/^- /m.test(unreleased(changelog)))
    found.push('CHANGELOG.md: [Unreleased] says nothing: what a user gets belongs there.');
  return found;
}

/** The changelog with what is unreleased as a version's. `day`: YYYY-MM-DD. */
function dateChangelog(changelog: string, version: string, day: string): string {
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${day}\n`);
}

/** What stands under [Unreleased]. */
function unreleased(changelog: string): string {
  const [, from = ''] = changelog.split(UNRELEASED);
  return (from.split(/^## /m)[0] ?? '').trim();
}

/** Orders `1.10.0` after `1.9.2`. */
function byVersion(a: string, b: string): number {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (x?.[i] !== y?.[i]) return (x?.[i] ?? 0) - (y?.[i] ?? 0);
  return 0;
}

function git(top: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: top, encoding: 'utf8' }).trim();
}

/** Takes back what a release has written so far. */
function takenBack(top: string, version: string, failed: string): number {
  git(top, 'checkout', 'HEAD', '--', ...FILES);
  console.error(`There is no ${version}: ${failed} failed. The files are as they were.`);
  return 1;
}

function release(top: string, version: string): number {
  const obstacles = findObstacles(top, version);
  for (const obstacle of obstacles) console.error(obstacle);
  if (obstacles.length > 0) return 1;
  // Whoever breaks it off ends npm, and the files become what they were.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  const path = join(top, 'CHANGELOG.md');
  const changelog = readFileSync(path, 'utf8');
  writeFileSync(path, dateChangelog(changelog, version, new Date().toISOString().slice(0, 10)));
  for (const args of [
    ['version', '--no-git-tag-version', '--allow-same-version', version],
    ['test'],
    ['run', '-s', 'package'],
  ]) {
    console.log(`npm ${args.join(' ')}`);
    if (spawnSync('npm', args, { cwd: top, stdio: 'inherit' }).status !== 0)
      return takenBack(top, version, `npm ${args[0]}`);
  }
  const text = `Offhook ${version}\n\n${unreleased(changelog)}\n`;
  // Headings of the changelog are no comments.
  const tag = ['tag', '--annotate', '--cleanup=verbatim', '--message', text, `v${version}`];
  const head = git(top, 'rev-parse', 'HEAD');
  for (const args of [['commit', '--quiet', '--message', `release: ${version}`, '--', ...FILES], tag]) {
    if (spawnSync('git', args, { cwd: top, stdio: 'inherit' }).status === 0) continue;
    git(top, 'reset', '--quiet', '--soft', head);
    return takenBack(top, version, `git ${args[0]}`);
  }
  console.log(`
Offhook ${version} is committed and tagged here. What is left to do by hand:

  git push --follow-tags
  npm publish dist/offhook-${version}.tgz

The text of the release is in the tag. To take it back: git tag -d v${version} && git reset --hard HEAD~1`);
  return 0;
}

if (process.argv[1] === import.meta.filename) {
  const [version] = process.argv.slice(2);
  if (version === undefined) console.error('npm run release -- VERSION');
  process.exitCode = version === undefined ? 2 : release(process.cwd(), version);
}
