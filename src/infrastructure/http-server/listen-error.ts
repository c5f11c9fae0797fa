import { getSystemErrorMessage } from 'node:util';

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** The settings that the address comes from. */
  readonly settings: string;
};

export const cannotListen = ({ host, port, settings }: ListenOptions, error: NodeJS.ErrnoException): Error => {
  const { errno, code, message } = error;
  const reason = errno === undefined || code === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new Error(`${settings}: cannot listen on ${addressText(host, port)}: ${reason}`);
};

export const addressText = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
