// Who runs a request that is made once, by table: as it is found, and what becomes of it.
import t from 'tap';
import {
  begun,
  finished,
  forgottenUpTo,
  intended,
  type KeptRequest,
  left,
  mayDrop,
} from '../../storage/idempotent-request.ts';
import { at } from './makers.ts';

const OWN = 7;
const OTHER = 6;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = at(2 * DAY);
const ago = (ms: number) => at(2 * DAY - ms);

const running: KeptRequest = {
  requestHash: 'a',
  createdAt: ago(MINUTE),
  begunAt: ago(MINUTE),
  owner: OWN,
  progress: { state: 'in_progress' },
};
const INTENDED = { state: 'intended', body: 'id' } as const;
const DONE = { state: 'done', status: 201, body: '{}' } as const;
const kept = (fields: Partial<KeptRequest> = {}): KeptRequest => ({ ...running, ...fields });
const mine = (request: KeptRequest) => ({ ...request, begunAt: NOW, owner: OWN });
const fresh = { ...running, createdAt: NOW, begunAt: NOW };

const BEGUN: [name: string, found: KeptRequest | null, answer: object, request: KeptRequest | null][] = [
  ['nothing -> new', null, { state: 'new' }, fresh],
  [
    'of a day ago -> new',
    kept({ createdAt: ago(DAY), progress: DONE, owner: null }),
    { state: 'new' },
    fresh,
  ],
  [
    'in progress elsewhere since a day -> new',
    kept({ createdAt: ago(DAY), owner: OTHER }),
    { state: 'new' },
    fresh,
  ],
  [
    'of a day ago but a moment -> as it is',
    kept({ createdAt: ago(DAY - 1), progress: DONE, owner: null }),
    DONE,
    null,
  ],
  [
    'another request, done -> reused',
    kept({ requestHash: 'b', progress: DONE, owner: null }),
    { state: 'reused' },
    null,
  ],
  [
    'another request, in progress elsewhere -> reused',
    kept({ requestHash: 'b', owner: OTHER }),
    { state: 'reused' },
    null,
  ],
  ['done -> its answer', kept({ progress: DONE, owner: null }), DONE, null],
  ['in progress here -> waits', kept({ begunAt: ago(2 * MINUTE - 1) }), { state: 'in_progress' }, null],
  [
    'in progress here for two minutes -> lost: new',
    kept({ begunAt: ago(2 * MINUTE) }),
    { state: 'new' },
    mine(kept()),
  ],
  [
    'in progress elsewhere, however long -> waits',
    kept({ begunAt: ago(DAY - 1), owner: OTHER }),
    { state: 'in_progress' },
    null,
  ],
  [
    'in progress, whose owner is forgotten, for two minutes -> new',
    kept({ begunAt: ago(2 * MINUTE), owner: null }),
    { state: 'new' },
    mine(kept()),
  ],
  [
    'intended here -> it finds out',
    kept({ progress: INTENDED }),
    INTENDED,
    mine(kept({ progress: INTENDED })),
  ],
  [
    'intended, its owner gone -> it finds out',
    kept({ progress: INTENDED, owner: null }),
    INTENDED,
    mine(kept({ progress: INTENDED })),
  ],
  ['intended elsewhere -> waits', kept({ progress: INTENDED, owner: OTHER }), { state: 'in_progress' }, null],
];

for (const [name, found, answer, request] of BEGUN) {
  t.test(name, async (t) => {
    t.strictSame(begun(found, { requestHash: 'a', owner: OWN, now: NOW }), { answer, request });
  });
}

t.test('an intent is stored by whoever runs the request, and by nobody else', async (t) => {
  t.strictSame(intended(kept(), OWN, 'id'), kept({ progress: INTENDED }));
  t.strictSame(
    intended(kept({ progress: INTENDED }), OWN, 'other'),
    kept({ progress: { ...INTENDED, body: 'other' } }),
  );
  for (const found of [
    null,
    kept({ owner: OTHER }),
    kept({ owner: null }),
    kept({ owner: null, progress: DONE }),
  ])
    t.strictSame(intended(found, OWN, 'id'), { conflict: 'not_owner' });
});

t.test('a request that is over has no owner: an answer, or an intent that nobody knows of', async (t) => {
  t.strictSame(finished(kept(), OWN, { status: 201, body: '{}' }), kept({ progress: DONE, owner: null }));
  t.strictSame(
    finished(kept({ progress: INTENDED }), OWN, { status: 201, body: '{}' }),
    kept({ progress: DONE, owner: null }),
  );
  t.strictSame(
    finished(kept(), OWN, { status: null, body: 'id' }),
    kept({ progress: INTENDED, owner: null }),
  );
  for (const found of [null, kept({ owner: OTHER }), kept({ owner: null, progress: DONE })])
    t.equal(finished(found, OWN, { status: 500, body: '' }), null, "nothing is done of another's");
});

t.test('a key is free again where nothing was intended', async (t) => {
  t.equal(mayDrop(kept(), OWN), true);
  for (const found of [null, kept({ owner: OTHER }), kept({ owner: null }), kept({ progress: INTENDED })])
    t.equal(mayDrop(found, OWN), false);
});

t.test('what a daemon leaves that is gone: its keys are free, its intents are found out', async (t) => {
  t.equal(left(kept()), null);
  t.strictSame(left(kept({ progress: INTENDED })), kept({ progress: INTENDED, owner: null }));
});

t.test('answers are kept for a day', async (t) => {
  t.equal(forgottenUpTo(NOW), ago(DAY));
});
