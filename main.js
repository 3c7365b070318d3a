// The entry a person runs: checks Node's version in syntax that any Node can read, then runs the daemon, or one of
// the commands that need nothing but its data folder.
// Plain JavaScript on purpose: an older Node cannot even open a .ts file to be told that it is too old.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `Offhook needs Node 24.11 or newer and this is ${process.version}: run "npm start", which brings its own.`,
  );
  process.exit(1);
}
const commands = {
  'reset-password': async () => {
    const { resetPassword } = await import('./control/operations/reset-password.ts');
    return resetPassword(process.env, process.argv.slice(3));
  },
  'create-organization': async () => {
    const { createOrganization } = await import('./control/operations/create-organization.ts');
    return createOrganization(process.env, process.argv.slice(3));
  },
  'forget-secrets': async () => {
    const { forgetSecretsCommand } = await import('./control/operations/forget-secrets.ts');
    return forgetSecretsCommand(process.env, process.argv.slice(3));
  },
  upgrade: async () => {
    const { upgrade } = await import('./control/operations/upgrade.ts');
    return upgrade(process.env, process.argv.slice(3));
  },
};
const name = process.argv[2];
if (name !== undefined) {
  const command = Object.hasOwn(commands, name) ? commands[name] : null;
  try {
    if (command === null)
      throw new Error(`there is no command "${name}", only ${Object.keys(commands).join(', ')}`);
    process.exit(await command());
  } catch (error) {
    console.error(`offhook: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
const { run } = await import('./daemon.ts');
await run(process.env);
