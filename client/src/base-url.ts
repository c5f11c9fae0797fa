/**
 * The address of the service, without a slash at its end.
 * @throws TypeError without `http://` or `https://`: `localhost:3000` would be a URL with the scheme `localhost`
 */
export const baseOf = (baseUrl: string): string => {
  if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError(`No http:// or https:// in baseUrl: ${baseUrl}`);
  return new URL(baseUrl).href.replace(/\/+$/, '');
};
