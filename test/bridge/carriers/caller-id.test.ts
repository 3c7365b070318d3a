// Who calls, from each form that a carrier says it in.
import t from 'tap';
import { callerOf, isNumber } from '../../../bridge/carriers/caller-id.ts';

const CASES: [said: string | null, caller: string][] = [
  ['+15550001111', '+15550001111'],
  ['sip:+15550001111@pbx.example.com', '+15550001111'],
  ['sip:+15550001111@pbx.example.com:5061;user=phone;transport=tls', '+15550001111'],
  ['sips:%2B15550001111@pbx.example.com', '+15550001111'],
  ['sip:+15550001111;phone-context=x@pbx.example.com', '+15550001111'],
  ['sip:alice@PBX.example.com', 'sip:alice@pbx.example.com'],
  ['SIP:alice@pbx.example.com;transport=udp', 'sip:alice@pbx.example.com'],
  ['sip:alice:secret@pbx.example.com', 'sip:alice@pbx.example.com'],
  ['sip:2001@pbx.example.com:5080', 'sip:2001@pbx.example.com:5080'],
  ['sip:pbx.example.com', 'sip:pbx.example.com'],
  ['client:alice', 'client:alice'],
  ['2001', '2001'],
  ['4155550123', '4155550123'],
  ['anonymous', 'anonymous'],
  ['Restricted', 'anonymous'],
  ['unknown', 'anonymous'],
  ['+266696687', 'anonymous'],
  ['sip:+266696687@pbx.example.com', 'anonymous'],
  ['sip:anonymous@anonymous.invalid', 'anonymous'],
  ['sip:Anonymous@pbx.example.com', 'anonymous'],
  ['sip:x@anonymous.invalid', 'anonymous'],
  ['', 'anonymous'],
  [null, 'anonymous'],
  ['client:', 'anonymous'],
  ['sip:a b@pbx.example.com', 'anonymous'],
  ['sip:%0aBcc@pbx.example.com', 'anonymous'],
  [`sip:${'a'.repeat(300)}@pbx.example.com`, 'anonymous'],
  ['<script>', 'anonymous'],
];

for (const [said, caller] of CASES) {
  t.test(`${JSON.stringify(said)?.slice(0, 60)} -> ${caller}`, async (t) => {
    t.equal(callerOf(said), caller);
    t.equal(callerOf(caller), caller, 'and stays so');
  });
}

t.test('only a number can be called back, or shown on', async (t) => {
  t.ok(isNumber('+15550001111'));
  for (const caller of ['sip:alice@pbx.example.com', 'client:alice', '2001', 'anonymous'])
    t.notOk(isNumber(caller));
});
