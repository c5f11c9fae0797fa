import { readFile } from 'node:fs/promises';
import { systemReason } from '../adapters/log/redact-error.ts';

const UTF_16 = new Map([
  [0xfffe, 'utf-16le'],
  [0xfeff, 'utf-16be'],
]);

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark, which some editors on Windows write. The mark is removed.
 * @throws Error for invalid bytes, and for NUL: UTF-16 without a mark is often valid UTF-8 with many NULs
 */
export const decodeText = (bytes: Uint8Array): string => {
  const [first = 0, second = 0] = bytes;
  const encoding = UTF_16.get(first * 256 + second) ?? 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {}
  throw new Error('it is neither UTF-8, nor UTF-16 with a byte order mark');
};

/** Reads a text file. @throws Error, which names the file if its content is not text */
export const readTextFile = async (path: string): Promise<string> => {
  const bytes = await readFile(path);
  try {
    return decodeText(bytes);
  } catch (error) {
    throw new Error(`${path}: ${systemReason(error)}`);
  }
};

/** Control and format characters: some are commands to a terminal, others change the order of the shown text, or are invisible. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}]/gu;

export const printable = (text: string): string => text.replace(UNPRINTABLE, '\ufffd');

/** As `printable`, for JSON on one line: the characters are escaped, not replaced. */
export const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, (character) =>
    Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
