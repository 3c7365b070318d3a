// The entry a person runs: checks Node's version in syntax that any Node can read, then runs the daemon, or prints a link
// for a new dashboard password.
// Plain JavaScript on purpose: an older Node cannot even open a .ts file to be told that it is too old.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `Offhook needs Node 24.11 or newer and this is ${process.version}: run "npm start", which brings its own.`,
  );
  process.exit(1);
}
if (process.argv[2] === 'reset-password') {
  const { resetPassword } = await import('./control/dashboard/password-link.ts');
  try {
    process.exit(resetPassword(process.env));
  } catch (error) {
    console.error(`offhook: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
const { run } = await import('./daemon.ts');
await run(process.env);
