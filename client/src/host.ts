/** The window in a frame, which may be of another origin. */
export type FrameWindow = {
  readonly postMessage: (message: unknown, origin: string, ports: readonly MessagePort[]) => void;
};

type Frame = {
  src: string;
  onload: unknown;
  readonly style: { display: string };
  readonly isConnected: boolean;
  readonly contentWindow: FrameWindow | null;
  readonly remove: () => void;
};

type Parent = { readonly append: (frame: Frame) => void };

/** The members of a browser that the client uses only if there is a `document`. */
type Browser = {
  readonly document: EventTarget & {
    readonly hidden: boolean;
    readonly body: Parent | null;
    readonly documentElement: Parent;
    readonly createElement: (name: 'iframe') => Frame;
  };
  readonly location: {
    readonly href: string;
    readonly origin: string;
    readonly hostname: string;
    readonly protocol: string;
    readonly assign: (url: string) => void;
  };
  readonly history: {
    readonly state: unknown;
    readonly replaceState: (state: unknown, title: string, url: string) => void;
  };
  readonly navigator: { readonly onLine: boolean };
  readonly localStorage: Record<string, unknown>;
  readonly top: unknown;
  readonly self: unknown;
};

export const browser = (): (Browser & EventTarget) | undefined =>
  (globalThis as unknown as Browser).document && (globalThis as unknown as Browser & EventTarget);

/** @param isIdle whether a program on Node may end while the timer runs. A program that waits for this timer alone would end without an error. */
export const sleep = (milliseconds: number, isIdle?: boolean): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds) as { unref?(): void };
    if (isIdle) timer.unref?.();
  });

export const ignore = (): void => undefined;
