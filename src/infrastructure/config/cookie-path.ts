const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The path of the routes below `/auth`, as a browser sees it. A proxy may strip the path of BASE_URL. */
const authPath = (baseUrl: string | undefined): string =>
  `${baseUrl === undefined ? '/' : withSlash(new URL(baseUrl).pathname)}auth`;

/** SPEC "Refresh cookie": `/auth`, as the browser sees it. */
export const cookiePathOf = (path: string | undefined, baseUrl: string | undefined): string =>
  path ?? authPath(baseUrl);

/** Whether browsers send a cookie with this path, or with the default path, to refresh and log-out (RFC 6265 §5.1.4). */
export const coversAuth = (path: string | undefined, baseUrl: string | undefined): boolean =>
  withSlash(authPath(baseUrl)).startsWith(withSlash(cookiePathOf(path, baseUrl)));
