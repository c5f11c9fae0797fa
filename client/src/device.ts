import { browser, type FrameWindow, ignore, sleep } from './host.ts';

/** What an application asks of the page `/device-key`. */
export type ProofRequest = {
  readonly path: string;
  /** Whether to make a key if there is none. */
  readonly create: boolean;
  /** Whether the page first reads the clock of the service, for example after a refused proof: the clock of this machine may be wrong. */
  readonly again: boolean;
  /** The request with an access token, to any service, for which the proof is made instead of for the path. */
  readonly use?: { readonly method: string; readonly url: string; readonly accessToken: string };
};

/** A proof; `null` if the page gives none, for example without a key; `undefined` if the page did not answer, or could not read its store. */
type Proof = string | null | undefined;

/** Milliseconds in which the frame must load, or read the clock and answer. */
const LOAD_TIMEOUT = 10_000;
/** Milliseconds in which the page must send "ready" after its frame has loaded. An error page of the browser never does. */
const READY_TIMEOUT = 500;
/** Milliseconds in which the page must answer. An answer takes about 20 ms, but the browser may delay the access to its storage. */
const ANSWER_TIMEOUT = 2_000;

/** The key of this device, which a page of the service holds in a hidden frame. */
export const device = (base: string) => {
  const host = browser();
  let frame: ReturnType<NonNullable<typeof host>['document']['createElement']> | undefined;
  let opened: Promise<FrameWindow | null> | undefined;

  const closeFrame = (): void => {
    frame?.remove();
    frame = undefined;
  };

  /** @returns the window of the page; `null` if the page cannot be loaded in a frame here */
  const open = async (page: NonNullable<typeof host>): Promise<FrameWindow | null> => {
    const { document } = page;
    const iframe = document.createElement('iframe');
    frame = iframe;
    const end = new AbortController();
    const ready = new Promise<true>((resolve) => {
      const onMessage = ({ source }: Event & { readonly source?: unknown }) =>
        source === iframe.contentWindow && resolve(true);
      page.addEventListener('message', onMessage, end);
    });
    const failed = new Promise((resolve) => {
      iframe.onload = resolve;
    }).then(() => sleep(READY_TIMEOUT));
    iframe.src = `${base}/device-key`;
    iframe.style.display = 'none';
    (document.body ?? document.documentElement).append(iframe);
    const isThere = await Promise.race([ready, failed, sleep(LOAD_TIMEOUT)]);
    end.abort();
    return isThere ? iframe.contentWindow : null;
  };

  const ask = async (request: ProofRequest): Promise<Proof> => {
    if (!host) return null;
    // The application may have removed the frame.
    if (!frame?.isConnected) opened = open(host);
    const target = await opened;
    if (!target) return undefined;
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise<Proof>((resolve) => {
      port1.onmessage = ({ data }) => resolve(data === false ? undefined : (data ?? null));
    });
    target.postMessage(request, new URL(base).origin, [port2]);
    const timeout = sleep(request.again ? LOAD_TIMEOUT : ANSWER_TIMEOUT);
    return (await Promise.race([answer, timeout]).finally(() => port1.close())) as Proof;
  };

  return {
    closeFrame,
    proofFor: async (request: ProofRequest): Promise<Proof> => {
      const proof = (await ask(request).catch(ignore)) as Proof;
      // The next request opens a new frame.
      if (!proof) closeFrame();
      return proof;
    },
  };
};
