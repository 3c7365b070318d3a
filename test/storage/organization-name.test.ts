// How an organization is found by its id or its name.
import t from 'tap';
import { findNamed } from '../../storage/organization-name.ts';

const ORGANIZATIONS = [
  { id: '1', name: 'Müller & Söhne' },
  { id: '2', name: 'Harbour Clinic' },
  { id: '3', name: 'HARBOUR CLINIC' },
  { id: '4', name: '2' },
];

for (const [asked, id] of [
  ['2', '2'],
  ['harbour clinic', '2'],
  ['  Harbour Clinic ', '2'],
  ['MÜLLER & SÖHNE', '1'],
  ['Mu\u0308ller & So\u0308hne', '1'],
  ['Harbour', undefined],
  ['', undefined],
] as const) {
  t.test(`${JSON.stringify(asked)} -> ${id ?? 'none'}`, async (t) => {
    t.equal(findNamed(ORGANIZATIONS, asked)?.id, id);
  });
}
