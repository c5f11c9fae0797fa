/** Characters that a terminal may take for commands, or that change the order of what it shows. */
const COMMANDS = /[\p{Cc}\p{Cf}]/gu;

/** The text without characters that a terminal may take for commands. */
export const printable = (text: string): string => text.replace(COMMANDS, '\ufffd');

/** JSON on one line, with such characters escaped. */
export const printableJson = (json: string): string =>
  json.replace(COMMANDS, (character) =>
    Array.from(character.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
