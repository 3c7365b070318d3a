// `npm run release`: whether this commit may become the version it says it is. Checks all of it, builds the package, and tells
// which tag to make; it tags and pushes nothing itself.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What stands in the way of a release, found without running anything; empty: nothing. `top` is the checkout. */
export function findObstacles(top: string): string[] {
  const read = (file: string) => readFileSync(join(top, file), 'utf8');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: top, encoding: 'utf8' }).trim();
  const found: string[] = [];
  if (git('status', '--porcelain') !== '') found.push('The tree is not clean: commit or stash.');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  if (!/^\d+\.\d+\.\d+$/.test(version)) found.push(`package.json: ${version} is no version.`);
  const lock = JSON.parse(read('package-lock.json')) as { version: string };
  if (lock.version !== version) found.push(`package-lock.json says ${lock.version}: npm install.`);
  const tags = git('tag', '--list', 'v*.*.*')
    .split('\n')
    .filter((tag) => tag !== '');
  const last = tags
    .map((tag) => tag.slice(1))
    .sort(byVersion)
    .at(-1);
  if (last !== undefined && byVersion(version, last) <= 0)
    found.push(
      `package.json: ${version} is not above ${last}, the last tag: npm version --no-git-tag-version.`,
    );
  const sections = new Map(
    read('CHANGELOG.md')
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [head = '', ...lines] = section.split('\n');
        return [head.trim(), lines.join('\n').trim()] as const;
      }),
  );
  const head = [...sections.keys()].find((one) => one.startsWith(`[${version}]`));
  if (head === undefined) found.push(`CHANGELOG.md: there is no section for ${version}.`);
  else if (!/^\[[^\]]+\] - \d{4}-\d\d-\d\d$/.test(head)) found.push(`CHANGELOG.md: "${head}" has no date.`);
  else if (!/^- /m.test(sections.get(head) ?? '')) found.push(`CHANGELOG.md: ${head} says nothing.`);
  if (sections.get('[Unreleased]') !== '')
    found.push('CHANGELOG.md: [Unreleased] is not there, or not empty: what it has belongs to this version.');
  return found;
}

/** Orders `1.10.0` after `1.9.2`. */
function byVersion(a: string, b: string): number {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (x?.[i] !== y?.[i]) return (x?.[i] ?? 0) - (y?.[i] ?? 0);
  return 0;
}

function release(top: string): number {
  const obstacles = findObstacles(top);
  for (const obstacle of obstacles) console.error(obstacle);
  if (obstacles.length > 0) return 1;
  for (const args of [['test'], ['run', '-s', 'package']]) {
    console.log(`npm ${args.join(' ')}`);
    if (spawnSync('npm', args, { cwd: top, stdio: 'inherit' }).status !== 0) return 1;
  }
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { version: string };
  console.log(`
Offhook ${version} is ready. What is left to do by hand:

  git tag -a v${version} -m "Offhook ${version}"
  git push origin v${version}
  npm publish dist/offhook-${version}.tgz

The text of the release is the section of CHANGELOG.md.`);
  return 0;
}

if (process.argv[1] === import.meta.filename) process.exit(release(process.cwd()));
