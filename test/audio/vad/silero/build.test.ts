// The WebAssembly in the tree is what its source compiles to. Only where the compiler is: `npm run build:detector -- --fetch`.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { BUILDS, type Build, builtFile, compile, findCompiler } from '../../../../scripts/build-detector.ts';

const compiler = findCompiler();
const skip = compiler === null && 'no compiler here: npm run build:detector -- --fetch';

for (const build of Object.keys(BUILDS) as Build[]) {
  t.test(`${build}.wasm is built from kernel.as, byte by byte`, { skip }, async (t) => {
    const made = compile(compiler ?? '', build);
    t.ok(made.length > 4_000, `${made.length} bytes`);
    t.ok(readFileSync(builtFile(build)).equals(made), 'npm run build:detector, and commit what it writes');
  });

  t.test(`${build}.wasm has only the instructions it says`, async (t) => {
    const bytes = readFileSync(builtFile(build));
    t.same([...bytes.subarray(0, 8)], [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], 'a module');
    // Those of SIMD begin with 0xfd; multiplying and adding in one, of the relaxed ones, is number 0x105, as LEB128.
    t.equal(bytes.includes(Buffer.from([0xfd, 0x85, 0x02])), build === 'relaxed');
  });
}
