// What is known of a carrier before it is opened, so that a program that opens none can ask. PURE types.
import type { Config } from '../../config.ts';
import type { Address, Ask, Found, SettingName } from '../setup.ts';

export interface CarrierSetup {
  /** As its carrier is named. */
  readonly name: string;
  /** It cannot be opened without these; it is wanted as soon as one of them is set. */
  readonly needs: readonly SettingName[];
  address(config: Config): Address;
  /** Whether its account can be used: changes nothing there. Asked only when all it needs is set. */
  tryOut(config: Config, ask: Ask): Promise<Found>;
}
