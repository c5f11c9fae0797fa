/** A request, as far as curl has to repeat it. */
export type Sent = {
  readonly method: string;
  readonly url: string;
  /** The scheme, and the access token. */
  readonly authorization: string | null;
  /** JSON. */
  readonly body: string | null;
};

/** A word of a POSIX shell, in which no character is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The same JSON in ASCII: a terminal could take other characters for commands, or encode them in another way. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const withoutSecrets = (json: string): string =>
  JSON.stringify(JSON.parse(json), (name, value) =>
    /password$|^(code|recoveryCode|mailCode)$/i.test(name) ? '***' : value,
  );

/**
 * A command that repeats the request. Below `/auth` it uses a cookie jar, since a page can't read the browser's cookie.
 * @param revealed whether it contains the passwords, the codes and the token. Otherwise the token is the variable TOKEN of the shell. A proof works once,
 * so it always is the variable PROOF.
 */
export const curlCommand = ({ method, url, authorization, body }: Sent, revealed: boolean): string =>
  [
    `curl -i -X ${method} ${quoted(url)}`,
    ...(/\/auth\//.test(new URL(url).pathname) ? ['-b jar -c jar'] : []),
    ...(authorization === null ? [] : authorized(authorization, revealed)),
    ...(body === null ? [] : [`-H 'Content-Type: application/json'`]),
    ...(body === null ? [] : [`--data-raw ${quoted(inAscii(revealed ? body : withoutSecrets(body)))}`]),
  ].join(' \\\n  ');

const authorized = (authorization: string, revealed: boolean): string[] => {
  const [scheme] = authorization.split(' ');
  const header = revealed ? quoted(`Authorization: ${authorization}`) : `"Authorization: ${scheme} $TOKEN"`;
  return [`-H ${header}`, ...(scheme === 'DPoP' ? ['-H "DPoP: $PROOF"'] : [])];
};

const TOKEN = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
const SHOWN = 16;

/** Pretty JSON, in which tokens are shortened and secrets of second factors left out, unless they are revealed. */
export const prettyAnswer = (answer: unknown, revealed: boolean): string =>
  JSON.stringify(answer, (name, value) => (revealed ? value : concealed(name, value)), 2);

const concealed = (name: string, value: unknown): unknown => {
  if (/^(secret|uri|qr)$/.test(name)) return '***';
  // A number says only how many are left.
  if (name === 'recoveryCodes' && Array.isArray(value)) return value.map(() => '***');
  return typeof value === 'string' && TOKEN.test(value) ? `${value.slice(0, SHOWN)}…` : value;
};
