// Whom the daemon is told to speak to: the vendor itself, somebody on this machine, or somebody else. PURE. It is all that
// can be known of a peer by its address, and decides what a latency that was measured with it may be called.

export interface Peer {
  host: string;
  place: 'vendor' | 'this_machine' | 'elsewhere';
}

const THIS_MACHINE = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

export function peerOf(baseUrl: string, vendor: string): Peer {
  const { host, hostname } = new URL(baseUrl);
  if (hostname === vendor || hostname.endsWith(`.${vendor}`)) return { host, place: 'vendor' };
  return { host, place: THIS_MACHINE.test(hostname) ? 'this_machine' : 'elsewhere' };
}

/** Carrier and model of a configuration. */
export function peersOf(config: { TWILIO_BASE_URL: string; OPENAI_BASE_URL: string }): {
  carrier: Peer;
  model: Peer;
} {
  return {
    carrier: peerOf(config.TWILIO_BASE_URL, 'twilio.com'),
    model: peerOf(config.OPENAI_BASE_URL, 'openai.com'),
  };
}
