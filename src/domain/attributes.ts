import { utf8Length } from './text.ts';

/** A JSON object that an operator, or a hook, states about a user, such as roles. It is in the user's access tokens by default (ADR 0004). */
export type Attributes = Readonly<Record<string, unknown>>;

/** Bytes of the attributes as JSON in UTF-8. There is a limit, since access tokens, which clients send with requests, contain the attributes. */
export const ATTRIBUTES_MAX_BYTES = 1_024;
const ATTRIBUTES_MAX_DEPTH = 4;

/** Names that attributes may not have at the top level: those of RFC 7519 §4.1, of RFC 9068 §2.2.1, and some other claims of this service. */
const CLAIM_NAMES = [
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid'],
  ...['tokenType', 'user', 'auth_time', 'amr', 'acr', 'attributes'],
];
/** Names with a meaning in JavaScript, which attributes may not have at any depth. */
const DANGEROUS_NAMES = ['__proto__', 'constructor', 'prototype'];

/** Parses and checks attributes. @param maxBytes of UTF-8 as JSON. @throws Error that says what is wrong, and does not quote the text. */
export const readAttributes = (text: string, maxBytes = ATTRIBUTES_MAX_BYTES): Attributes => {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error('The attributes have to be a JSON object.');
  const reserved = Object.keys(value).find((name) => CLAIM_NAMES.includes(name));
  if (reserved !== undefined) throw new Error(`The name ${reserved} is reserved: it is that of a claim.`);
  assertPlain(value, ATTRIBUTES_MAX_DEPTH);
  return assertFit(value, maxBytes);
};

/** Checks only the size of merged attributes: their parts were checked before, maybe by the rules of another version. @throws Error */
export const assertFit = (attributes: Attributes, maxBytes = ATTRIBUTES_MAX_BYTES): Attributes => {
  if (utf8Length(JSON.stringify(attributes)) > maxBytes)
    throw new Error(`The attributes may have at most ${maxBytes} bytes of UTF-8 as JSON.`);
  return attributes;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The attributes have to be a JSON object.');
  }
};

const isObject = (value: unknown): value is Attributes =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param depth how many levels of objects and lists the value may have. */
const assertPlain = (value: unknown, depth: number): void => {
  if (typeof value === 'string') assertText(value);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new Error('A number of the attributes is too large to be read exactly: write it as a text.');
  if (typeof value !== 'object' || value === null) return;
  if (depth === 0)
    throw new Error(`The attributes may have at most ${ATTRIBUTES_MAX_DEPTH} objects and lists within each other.`);
  const dangerous = Object.keys(value).find((name) => DANGEROUS_NAMES.includes(name));
  if (dangerous !== undefined) throw new Error(`The name ${dangerous} is reserved: it has a meaning in JavaScript.`);
  for (const [name, member] of Object.entries(value)) {
    assertText(name);
    assertPlain(member, depth - 1);
  }
};

/** Refuses NUL and lone surrogates: a database that parses the stored JSON, as PostgreSQL does by `::jsonb`, fails at them. */
const assertText = (text: string): void => {
  if (text.includes('\0') || !text.isWellFormed())
    throw new Error('A text of the attributes has NUL or a lone surrogate.');
};
