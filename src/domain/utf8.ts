/** Length in bytes of UTF-8. The domain does not depend on a platform, so `TextEncoder` is not available. */
export const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (codePoint < 0x80) bytes += 1;
    else if (codePoint < 0x800) bytes += 2;
    else bytes += codePoint < 0x10000 ? 3 : 4;
  }
  return bytes;
};
