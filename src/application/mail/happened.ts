import type { Device } from '../../domain/device.ts';
import { own, prose } from './prose.ts';
import { timeText } from './wording.ts';

/** When something happened, and on which device. */
export type Happened = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly device: Device;
};

/** For the layout. The device names itself, and the network is one that we have seen. */
export const factsOf = ({ at, device: { userAgent, address } }: Happened) => ({
  facts: [
    ['Time', prose`${own(timeText(at))}`],
    ['Device', userAgent === null ? prose`unknown` : prose`"${userAgent}"`],
    ['Network', prose`${own(address ?? 'unknown')}`],
  ] as const,
});
