/** Every id is a ULID: 26 characters of Crockford's base 32, in upper case. */
export const ID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isId = (text: string): boolean => ID_PATTERN.test(text);
