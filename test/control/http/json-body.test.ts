// What is said of a body that is no JSON: where it went wrong, and nothing of what stands in it.
import t from 'tap';
import { parseJsonObject } from '../../../control/http/json-body.ts';

const SECRET = 'sk_live_hunter2';
const bodies: [string, string][] = [
  ['no JSON at all', SECRET],
  ['a word where a value belongs', `{"name": ${SECRET}}`],
  ['a word after the document', `{"name": 1} ${SECRET}`],
  ['cut inside a text', `{"name": "${SECRET}`],
  ['cut after a name', `{"${SECRET}":`],
  ['a line end inside a text', `{"name": "${SECRET}\n"}`],
  ['a wrong escape', `{"name": "${SECRET}\\x"}`],
  ['a missing comma', `{"a": "${SECRET}" "b": 1}`],
  ['a comma too many', `{"a": "${SECRET}",}`],
  ['single quotes', `{'${SECRET}': 1}`],
];
for (const [name, body] of bodies) {
  t.test(`nothing of the body is quoted: ${name}`, async (t) => {
    try {
      parseJsonObject(Buffer.from(body));
      t.fail('was taken');
    } catch (error) {
      const { code, message } = error as { code: unknown; message: string };
      t.equal(code, 'invalid_json');
      t.match(message, /^The body is not JSON: .+\.$/);
      for (const part of [SECRET, SECRET.slice(0, 5), 'hunter']) t.notOk(message.includes(part), message);
    }
  });
}

t.test('bytes that are no UTF-8', async (t) => {
  t.throws(() => parseJsonObject(Buffer.from([0x7b, 0xff, 0x7d])), {
    code: 'invalid_json',
    message: 'The body is not JSON: it is not UTF-8.',
  });
});
