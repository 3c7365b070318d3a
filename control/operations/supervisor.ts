// What systemd hands to this process, and what it is told (sd_listen_fds(3), sd_notify(3)): a socket to listen on; that the
// daemon is ready, goes away, or goes on as another process. Without systemd there is nothing of it.
import { execFile } from 'node:child_process';
import { ConfigError } from '../../config.ts';

type Environment = Record<string, string | undefined>;

/** The first of the descriptors that are handed over (SD_LISTEN_FDS_START). */
const FIRST_FD = 3;
/** It waits until systemd has read what it brings. */
const TELL_MS = 10_000;

/**
 * The descriptor of the socket that this process was started with; null where there is none.
 * @param pids those that a socket may have been handed to: this process, and the one that it goes on for
 * @throws ConfigError for several sockets
 */
export function handedSocket(env: Environment, pids: readonly number[]): number | null {
  const { LISTEN_PID, LISTEN_FDS } = env;
  if (LISTEN_FDS === undefined || !pids.some((pid) => String(pid) === LISTEN_PID)) return null;
  if (LISTEN_FDS === '1') return FIRST_FD;
  throw new ConfigError(`LISTEN_FDS=${LISTEN_FDS}: the daemon listens on one socket; name one in its unit.`);
}

/**
 * Tells systemd, where it has asked for that (`Type=notify`). Node has no datagram sockets of that kind, so that systemd's own
 * `systemd-notify` brings it; a unit that wants to hear of it needs `NotifyAccess=all`.
 * @param states such as READY=1
 * @returns null, or why systemd was not told
 */
export function tellSystemd(env: Environment, states: readonly string[]): Promise<string | null> {
  const { NOTIFY_SOCKET, PATH } = env;
  if (!NOTIFY_SOCKET) return Promise.resolve(null);
  return new Promise((told) => {
    const options = { env: { NOTIFY_SOCKET, PATH }, timeout: TELL_MS };
    execFile('systemd-notify', states, options, (error, _out, said) =>
      told(error === null ? null : `systemd-notify ${states.join(' ')}: ${said.trim() || error.message}`),
    );
  });
}
