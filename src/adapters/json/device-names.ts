/** A product at the start of a user agent (RFC 9110 §10.1.5), such as `curl/8.5.0`. All browsers claim to be Mozilla. */
const PRODUCT = /^(?!Mozilla\/)[\w!#$%&'*+.^`|~-]+(?=\/)/;

/**
 * Loads the names of browsers and systems, with the first answer that has one.
 * @param between what is between the program and the system.
 * @returns a function from a user agent to what people call its program: `Firefox on Windows`. `null` if it does not say so. The text is from
 *   a client.
 */
export const deviceNames = async (between = ' on '): Promise<(userAgent: string | null) => string | null> => {
  const { default: bowser } = await import('bowser');
  const known = new Set<string>(Object.values(bowser.BROWSER_MAP));
  return (userAgent) => {
    if (userAgent === null) return null;
    // Only what is asked for is looked for.
    const parser = bowser.getParser(userAgent, true);
    const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
    const program = known.has(browser) ? browser : PRODUCT.exec(userAgent)?.[0];
    if (program === undefined) return system || null;
    return system === '' || program.includes(system) ? program : `${program}${between}${system}`;
  };
};
