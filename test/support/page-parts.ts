/** Parts of a browser's page that Node does not have, or whose messages would take real time. */

type Hear = (event: { readonly data: unknown }) => void;
/** Calls a function at the time at which a message arrives. */
export type Later = (call: () => void) => void;
const atOnce: Later = (call) => call();

export const messageChannel = (later = atOnce) =>
  class {
    readonly port1 = { onmessage: (_event: { data: unknown }): void => undefined, close: () => undefined };
    readonly port2 = { postMessage: (data: unknown) => later(() => this.port1.onmessage({ data })) };
  };

export type Channel = { onmessage: Hear | null; readonly hear: (data: unknown) => void };

type Post = (data: unknown, others: readonly Channel[]) => void;
/** @param open the open channels of a browser */
export const broadcastChannel = (open: Set<Channel>, post: Post, later = atOnce) =>
  class {
    onmessage: Hear | null = null;
    constructor() {
      open.add(this);
    }
    hear = (data: unknown): void => later(() => void (open.has(this) && this.onmessage?.({ data })));
    postMessage = (data: unknown): void =>
      post(
        data,
        [...open.values()].filter((each) => each !== this),
      );
    close = (): void => void open.delete(this);
  };

export type Frame = {
  readonly contentWindow: { postMessage(data: unknown, to: string, ports: readonly MessagePort[]): void };
  readonly onload: () => void;
  readonly isConnected: boolean;
  readonly remove: () => void;
};
type Ports = readonly Pick<MessagePort, 'postMessage'>[];

/** A document that can make frames. @param load fills an added frame @param receive gets what is posted to a frame's window */
export const documentWithFrames = (
  frames: Set<Frame>,
  load: (frame: Frame) => void,
  receive: (frame: Frame, data: unknown, to: string, ports: Ports) => void,
) => ({
  createElement(): Frame {
    const frame: Frame & { src: string } = {
      ...{ src: '', style: { display: '' }, onload: () => undefined },
      contentWindow: { postMessage: (data: unknown, to: string, ports: Ports) => receive(frame, data, to, ports) },
      get isConnected() {
        return frames.has(frame);
      },
      remove: () => void frames.delete(frame),
    };
    return frame;
  },
  body: {
    append(frame: Frame): void {
      frames.add(frame);
      load(frame);
    },
  },
});
