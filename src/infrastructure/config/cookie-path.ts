const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** Where a browser finds the routes below `/auth`. A proxy may have put the path of BASE_URL in front and takes it away. */
const authPath = (baseUrl: string | undefined): string =>
  `${baseUrl === undefined ? '/' : withSlash(new URL(baseUrl).pathname)}auth`;

/** SPEC "Refresh cookie": `/auth`, as the browser sees it. */
export const cookiePathOf = (path: string | undefined, baseUrl: string | undefined): string =>
  path ?? authPath(baseUrl);

/** Whether a browser sends a cookie of this path, or of the default one, to refresh and to log-out (RFC 6265 §5.1.4). */
export const coversAuth = (path: string | undefined, baseUrl: string | undefined): boolean =>
  withSlash(authPath(baseUrl)).startsWith(withSlash(cookiePathOf(path, baseUrl)));
