// `npm run package [-- FOLDER]`: the SDK and the command line as the package that is published, a tarball in dist/ (or FOLDER). JavaScript and
// types made by tsc from control/sdk, control/cli and the table of settings; nothing of the daemon is in it.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Builds the package.
 * @param folder where the tarball goes
 * @returns path of the tarball
 * @throws Error when tsc or npm fails, with what they said
 */
function buildPackage(folder: string): string {
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
    keywords: string[];
    dependencies: Record<string, string>;
  };
  const staging = join(folder, 'package');
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const config = join(staging, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: ROOT,
        outDir: join(staging, 'dist'),
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      include: [join(ROOT, 'control/sdk'), join(ROOT, 'control/cli')],
      exclude: [],
    }),
  );
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config]);
  rmSync(config);
  // tsc leaves the sources' names in declarations.
  for (const file of globSync(join(staging, 'dist/**/*.d.ts'))) {
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/(from '|import\(')(\.[^']*)\.ts'/g, "$1$2.js'"),
    );
  }
  // Only the SDK is imported by others.
  for (const file of globSync(['dist/*.d.ts', 'dist/control/*.d.ts', 'dist/control/cli/**/*.d.ts'], {
    cwd: staging,
  })) {
    rmSync(join(staging, file));
  }
  for (const file of ['entry.cjs', 'load.cjs'])
    cpSync(join(ROOT, 'control/cli', file), join(staging, 'dist/control/cli', file));
  chmodSync(join(staging, 'dist/control/cli/entry.cjs'), 0o755);
  writeFileSync(
    join(staging, 'package.json'),
    `${JSON.stringify(
      {
        name: 'offhook',
        version: own.version,
        description: "SDK and command line of Offhook, your organization's own AI phone line.",
        keywords: own.keywords,
        license: own.license,
        ...whereItIsFrom(),
        type: 'module',
        // What doctor, backup and restore need; the SDK itself runs wherever there are fetch and WebCrypto.
        engines: { node: '>=22.13' },
        exports: {
          '.': { types: './dist/control/sdk/index.d.ts', default: './dist/control/sdk/index.js' },
          './package.json': './package.json',
        },
        bin: { offhook: './dist/control/cli/entry.cjs' },
        files: ['dist'],
        sideEffects: false,
        dependencies: {
          '@inquirer/confirm': own.dependencies['@inquirer/confirm'],
          '@inquirer/password': own.dependencies['@inquirer/password'],
          commander: own.dependencies.commander,
          'string-width': own.dependencies['string-width'],
        },
      },
      null,
      2,
    )}\n`,
  );
  cpSync(join(ROOT, 'control/sdk/README.md'), join(staging, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], staging)) as {
    filename: string;
  }[];
  if (packed === undefined) throw new Error('npm pack made nothing.');
  return join(folder, packed.filename);
}

/** Where its code is, its page and its issues are: by the address that this checkout is pushed to; nothing where there is none. */
function whereItIsFrom(): object {
  const origin =
    spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: ROOT, encoding: 'utf8' }).stdout ?? '';
  const page = repositoryPage(origin.trim());
  if (page === null) return {};
  return {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  };
}

/** The page of a repository by its address, as git has it (https, ssh or the short form); null where it has none, as a folder. */
export function repositoryPage(address: string): string | null {
  const match =
    /^(?:https:\/\/(?:[^@/]+@)?|ssh:\/\/git@|git@)([\w.-]+\.[a-z]+)[/:]([\w./-]+?)(?:\.git)?\/?$/i.exec(
      address,
    );
  return match === null ? null : `https://${match[1]}/${match[2]}`;
}

function run(command: string, args: string[], cwd = ROOT): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(buildPackage(resolve(process.argv[2] ?? join(ROOT, 'dist'))));
}
