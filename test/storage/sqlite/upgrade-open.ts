// Opens the store at the path it is given, as the daemon of this version does, and says when it begins and when it has.
import { openStore } from '../../../storage/sqlite/store.ts';

const path = process.argv[2];
if (path === undefined) throw new Error('upgrade-open.ts <path>');
process.stdout.write('begins\n');
const store = await openStore({ path });
process.stdout.write('is open\n');
await store.close();
