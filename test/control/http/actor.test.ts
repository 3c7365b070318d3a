// What an actor may: by what was granted, and what a route asks for that does not say.
import t from 'tap';
import {
  type Actor,
  EVERYTHING,
  mustBeAllowed,
  PERMISSIONS,
  permissionFor,
} from '../../../control/http/actor.ts';

const actor = (kind: Actor['kind'], ...may: (typeof PERMISSIONS)[number][]): Actor => ({
  kind,
  id: 'one',
  name: 'One',
  may: new Set(may),
});

t.test('what was not granted is refused, by its name', async (t) => {
  for (const wanted of PERMISSIONS) {
    t.doesNotThrow(() => mustBeAllowed({ ...actor('key'), may: EVERYTHING }, wanted));
    t.throws(() => mustBeAllowed(actor('key', ...PERMISSIONS.filter((one) => one !== wanted)), wanted), {
      code: 'forbidden',
      message: new RegExp(`This API key .*\\(${wanted}\\)`),
    });
    t.throws(() => mustBeAllowed(actor('user'), wanted), { message: /Your role/ });
  }
});

t.test('reading asks for reading, all else for operating', async (t) => {
  t.equal(permissionFor('get'), 'read');
  for (const method of ['post', 'put', 'patch', 'delete']) t.equal(permissionFor(method), 'operate');
});
