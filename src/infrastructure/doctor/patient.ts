import type { KeyPair } from '../../adapters/token-signer/keys.ts';
import type { ReadConfig } from '../config.ts';

/** What the doctor examines. */
export type Patient = ReadConfig & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Arguments of Node, which can name environment files. */
  readonly nodeArguments: readonly string[];
  /** The `kid` of each public key of a pair, the current one first. */
  readonly kidsOf: (pair: KeyPair) => Promise<readonly string[]>;
  /** Connects to a mail server. Words about why no mail can be sent; `null` when it can. */
  readonly whyNoMail: (server: {
    readonly url: string;
    readonly requireTls: boolean;
    readonly timeout: number;
  }) => Promise<string | null>;
};
