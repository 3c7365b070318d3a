// Whom the daemon is told to speak to: the vendor itself, somebody on this machine, or somebody else. PURE. It is all that
// can be known of a peer by its address, and decides what a latency that was measured with it may be called.
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import { carrierSetups, isSetUp, modelSetupOf } from '../../bridge/setups.ts';
import type { Config } from '../../config.ts';
import type { Overview } from './app/session-shapes.ts';

type Peers = Overview['measured_against'];
type Peer = Peers['carriers'][number];

const THIS_MACHINE = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

export function peerOf(baseUrl: string, vendor: string): Peer {
  const { host, hostname } = new URL(baseUrl);
  if (hostname === vendor || hostname.endsWith(`.${vendor}`)) return { host, place: 'vendor' };
  return { host, place: THIS_MACHINE.test(hostname) ? 'this_machine' : 'elsewhere' };
}

/** Whom a configuration has the daemon speak to: each carrier that is set up, and each model that agents may have. */
export function peersOf(config: Config, models: SpeechModels): Peers {
  return {
    carriers: carrierSetups
      .filter((setup) => isSetUp(setup, config))
      .map((setup) => {
        const { url, vendor } = setup.address(config);
        return peerOf(url, vendor);
      }),
    models: models.names.flatMap((name) => {
      const access = models.access(name);
      return access === null ? [] : [peerOf(access.url, modelSetupOf(access.kind).vendor)];
    }),
  };
}
