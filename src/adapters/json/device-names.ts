/** The name of the first product of a user agent (RFC 9110 §10.1.5), such as `curl` of `curl/8.5.0`. `Mozilla` is excluded: it names no browser. */
const PRODUCT = /^(?!Mozilla\/)[\w!#$%&'*+.^`|~-]+(?=\/)/;

/**
 * Loads the names of browsers and operating systems.
 * @param between the text between the program and the system
 * @returns a function from a user agent to a name that people know, such as `Firefox on Windows`, or `null`. Clients can forge it with their user agent.
 */
export const deviceNames = async (between = ' on '): Promise<(userAgent: string | null) => string | null> => {
  const { default: bowser } = await import('bowser');
  const knownBrowsers = new Set<string>(Object.values(bowser.BROWSER_MAP));
  return (userAgent) => {
    if (userAgent === null) return null;
    // `true` makes bowser parse only the parts that are asked for.
    const parser = bowser.getParser(userAgent, true);
    const [browser, system] = [parser.getBrowserName(), parser.getOSName()];
    const program = knownBrowsers.has(browser) ? browser : PRODUCT.exec(userAgent)?.[0];
    if (program === undefined) return system || null;
    return system === '' || program.includes(system) ? program : `${program}${between}${system}`;
  };
};
